// How many relationships of each type join nodes of which labels.
// mode: read
// returns: start, type, end, count
MATCH (a)-[r]->(b)
RETURN labels(a) AS start, type(r) AS type, labels(b) AS end, count(*) AS count

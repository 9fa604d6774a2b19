// How many nodes of a graph have which labels.
// mode: read
// returns: labels, count
MATCH (n)
RETURN labels(n) AS labels, count(*) AS count

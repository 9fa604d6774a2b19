// What the nodes of a graph have, by their labels: properties, the types of their values, and how many nodes have one.
// mode: read
// returns: labels, name, types, count
MATCH (n)
UNWIND keys(n) AS name
RETURN labels(n) AS labels, name, collect(DISTINCT valueType(n[name])) AS types, count(*) AS count

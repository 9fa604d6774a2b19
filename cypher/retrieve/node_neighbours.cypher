// The neighbours of a node: the nodes that share a fact with it, those that share most facts first.
// mode: read
// param $node: string: the node's name
// param $count: int: how many
// returns: nodes, name
MATCH (n:KeyElement {name: $node})
WHERE NOT EXISTS { (n)-[:FORM_OF]->(:KeyElement) }
MATCH (n)<-[:FORM_OF*0..1]-(:KeyElement)<-[:MENTIONS|SUBJECT|OBJECT]-(f:Fact)
WITH DISTINCT f
MATCH (f)-[:MENTIONS|SUBJECT|OBJECT]->(m:KeyElement)
OPTIONAL MATCH (m)-[:FORM_OF]->(r:KeyElement)
WITH coalesce(r.name, m.name) AS name, count(DISTINCT f) AS shared
WHERE name <> $node
WITH name, shared
ORDER BY shared DESC, name
WITH collect(name) AS names
UNWIND names[..$count] AS name
RETURN size(names) AS nodes, name

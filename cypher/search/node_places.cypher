// The facts of nodes, and the passages that state them, at most so many of each: what tells nodes apart.
// mode: read
// param $nodes: list<string>: names of nodes
// param $most: int: how many facts of a node
// param $documents: list<string>: ids of the documents that state them; null: all
// returns: name, facts, passages
UNWIND $nodes AS name
MATCH (n:KeyElement {name: name})
WHERE NOT EXISTS { (n)-[:FORM_OF]->(:KeyElement) }
CALL (n) {
  MATCH (n)<-[:FORM_OF*0..1]-(:KeyElement)<-[:MENTIONS|SUBJECT|OBJECT]-(f:Fact)
  WHERE $documents IS NULL
     OR EXISTS { (f)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
  WITH DISTINCT f
  ORDER BY f.id
  LIMIT $most
  MATCH (f)-[:FROM_CHUNK]->(c:Chunk)
  WHERE $documents IS NULL OR EXISTS { (c)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
  RETURN f, c
}
RETURN name, collect(DISTINCT f.id) AS facts, collect(DISTINCT c.id) AS passages

// What is known of an entity: each fact, and the passages and documents that state it.
// mode: read
// param $id: string: the entity
// returns: fact, documents, passages
MATCH (:Entity {id: $id})<-[:SUBJECT|OBJECT]-(f:Fact)-[:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
RETURN f.text AS fact, collect(DISTINCT d.name) AS documents, count(DISTINCT c) AS passages
ORDER BY passages DESC, fact
LIMIT 100

// The most connected entities
// The entities with the most facts, and how many passages and documents name each.
MATCH (e:Entity)
WITH e, COUNT { (e)<-[:SUBJECT|OBJECT]-(:Fact) } AS facts
ORDER BY facts DESC, e.id
LIMIT 25
RETURN e.name AS entity, e.type AS type, facts, COUNT { (e)-[:FROM_CHUNK]->(:Chunk) } AS passages,
       COUNT { MATCH (e)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) RETURN DISTINCT d } AS documents

// Documents and their entities
// The five documents that share the most entities with others, and those entities.
MATCH (e:Entity)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document)
WITH e, collect(DISTINCT d) AS documents
WHERE size(documents) > 1
UNWIND documents AS d
WITH d, collect(e) AS shared
ORDER BY size(shared) DESC, d.id
LIMIT 5
UNWIND shared AS e
MATCH named = (e)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d)
RETURN named
LIMIT 150

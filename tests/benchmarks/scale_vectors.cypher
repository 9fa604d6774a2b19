// A block of passages with their vectors, those after an id.
MATCH (c:Chunk)
WHERE c.id > $after
WITH c
ORDER BY c.id
LIMIT $count
MATCH (c)-[:FROM_DOCUMENT]->(d:Document)
RETURN c.id AS id, d.name AS title, c.embedding AS vector
ORDER BY id

// The passages nearest to a vector: what retrieval has to beat. Asked for k alone, the index misses a third of them.
CALL db.index.vector.queryNodes('chunk_embedding', $k + 250, $vector) YIELD node AS c, score
WITH c, score
ORDER BY score DESC, c.id
LIMIT $k
MATCH (c)-[:FROM_DOCUMENT]->(d:Document)
RETURN c.id AS id, d.uri AS document, d.name AS title, c.start AS start, c.end AS end, c.page AS page, c.text AS text,
       score
ORDER BY score DESC, id

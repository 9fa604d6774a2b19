// The passages nearest to a vector, by the vector index alone: what retrieval has to beat.
CALL db.index.vector.queryNodes('chunk_embedding', $k, $vector) YIELD node AS c, score
MATCH (c)-[:FROM_DOCUMENT]->(d:Document)
RETURN c.id AS id, d.uri AS document, d.name AS title, c.start AS start, c.end AS end, c.page AS page, c.text AS text,
       score
ORDER BY score DESC, id

// Facts nearest by meaning, with the passages that have their words.
// mode: read
// param $k: int: how many
// param $vector: list<float>: the question's vector
// returns: id, cosine, passages
CALL db.index.vector.queryNodes('fact_embedding', $k + 100, $vector) YIELD node AS f, score
WITH f, f.id AS id, 2 * score - 1 AS cosine
ORDER BY cosine DESC, id
LIMIT $k
RETURN id, cosine, COLLECT { MATCH (f)-[:FROM_CHUNK {found: true}]->(c:Chunk) RETURN c.id ORDER BY c.id } AS passages

// Passages of some documents nearest to the question by meaning alone; each of them is compared.
// mode: read
// param $documents: list<string>: document ids
// param $k: int: how many
// param $vector: list<float>: the question's vector
// returns: id, score
MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
WHERE d.id IN $documents AND c.embedding IS NOT NULL
RETURN c.id AS id, 2 * vector.similarity.cosine(c.embedding, $vector) - 1 AS score
ORDER BY score DESC, id
LIMIT $k

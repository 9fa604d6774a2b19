// Passages of some documents nearest to the question by meaning, among those nearest in the whole graph.
// mode: read
// param $k: int: how many
// param $among: int: how many the index is asked for
// param $documents: list<string>: document ids
// param $vector: list<float>: the question's vector
// returns: id, score
CALL db.index.vector.queryNodes('chunk_embedding', $among, $vector) YIELD node AS c, score
WHERE EXISTS { MATCH (c)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
RETURN c.id AS id, 2 * score - 1 AS score
ORDER BY score DESC, id
LIMIT $k

// Route dense: passages nearest to the question by meaning alone.
// mode: read
// param $k: int: how many
// param $vector: list<float>: the question's vector
// returns: id, score
CALL db.index.vector.queryNodes('chunk_embedding', $k + 250, $vector) YIELD node, score
RETURN node.id AS id, 2 * score - 1 AS score
ORDER BY score DESC, id
LIMIT $k

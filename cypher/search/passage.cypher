// Route passage: passages nearest by meaning, and how near those are that share words with the question.
// The index looks through as many candidates as it is asked for: with 50 it misses one of eight
// (docs/explanation/decisions.md).
// mode: read
// param $k: int: how many by meaning
// param $vector: list<float>: the question's vector
// param $ids: list<string>: the passages that share words with the question
// returns: passages
// each: id, cosine
CALL () {
  CALL db.index.vector.queryNodes('chunk_embedding', $k + 250, $vector) YIELD node, score
  RETURN node AS c
  ORDER BY score DESC, c.id
  LIMIT $k
  UNION
  UNWIND $ids AS id
  MATCH (c:Chunk {id: id})
  WHERE c.embedding IS NOT NULL
  RETURN c
}
WITH c.id AS id, 2 * vector.similarity.cosine(c.embedding, $vector) - 1 AS cosine
ORDER BY cosine DESC, id
RETURN collect([id, cosine]) AS passages

// Route passage: passages nearest by meaning, and passages that share words with the question (BM25).
// mode: read
// param $k: int: how many of each
// param $vector: list<float>: the question's vector
// param $words: string: the question's words, as a full-text query
// returns: passages
// each: id, cosine, bm25
CALL () {
  CALL db.index.vector.queryNodes('chunk_embedding', $k, $vector) YIELD node
  RETURN node AS c, 0.0 AS bm25
  UNION ALL
  CALL db.index.fulltext.queryNodes('chunk_text', $words, {limit: $k}) YIELD node, score
  RETURN node AS c, score AS bm25
}
WITH c, max(bm25) AS bm25
WHERE c.embedding IS NOT NULL
WITH c.id AS id, 2 * vector.similarity.cosine(c.embedding, $vector) - 1 AS cosine, bm25
ORDER BY cosine DESC, id
RETURN collect([id, cosine, bm25]) AS passages

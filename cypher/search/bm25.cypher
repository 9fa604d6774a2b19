// Route bm25: passages that share words with the question, by words alone (Lucene's BM25).
// mode: read
// param $k: int: how many
// param $words: string: the question's words, as a full-text query
// param $terms: string: its words as those of passages in other languages than English are stored; empty in English
// param $typed: string: its words in one spelling, as a full-text query; empty if all are common
// returns: id, score, foreign
CALL () {
  CALL db.index.fulltext.queryNodes('chunk_text', $words, {limit: $k}) YIELD node, score
  RETURN node.id AS id, score, false AS foreign
  UNION ALL
  MATCH (g:Graph {id: 'graph'})
  WHERE g.format >= 4 AND $terms <> ''
  CALL db.index.fulltext.queryNodes('chunk_words', $terms, {limit: $k}) YIELD node, score
  RETURN node.id AS id, score, true AS foreign
  UNION ALL
  MATCH (g:Graph {id: 'graph'})
  WHERE g.format >= 5 AND $typed <> ''
  CALL db.index.fulltext.queryNodes('chunk_exact', $typed, {limit: $k}) YIELD node, score
  RETURN node.id AS id, score, false AS foreign
}
RETURN id, max(score) AS score, true IN collect(foreign) AS foreign
ORDER BY score DESC, id
LIMIT $k

// Route bm25: passages that share words with the question, by words alone (Lucene's BM25).
// mode: read
// param $k: int: how many
// param $most: int: how many the indexes are asked for
// param $documents: list<string>: ids of the documents that they have to be of; empty: of any
// param $words: string: the question's words, as a full-text query
// param $terms: string: its words as those of passages in other languages than English are stored; empty in English
// param $typed: string: its words in one spelling, as a full-text query; empty if all are common
// returns: id, score, foreign
CALL () {
  CALL db.index.fulltext.queryNodes('chunk_text', $words, {limit: $most}) YIELD node, score
  RETURN node, score, false AS foreign
  UNION ALL
  MATCH (g:Graph {id: 'graph'})
  WHERE g.format >= 4 AND $terms <> ''
  CALL db.index.fulltext.queryNodes('chunk_words', $terms, {limit: $most}) YIELD node, score
  RETURN node, score, true AS foreign
  UNION ALL
  MATCH (g:Graph {id: 'graph'})
  WHERE g.format >= 5 AND $typed <> ''
  CALL db.index.fulltext.queryNodes('chunk_exact', $typed, {limit: $most}) YIELD node, score
  RETURN node, score, false AS foreign
}
WITH node, score, foreign
WHERE size($documents) = 0 OR EXISTS { MATCH (node)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
RETURN node.id AS id, max(score) AS score, true IN collect(foreign) AS foreign
ORDER BY score DESC, id
LIMIT $k

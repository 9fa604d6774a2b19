// What the words of a question find, before its vector is there: the entities and the documents that it names, the
// passages that share words with it (BM25), and whether the graph has a finished knowledge tree. An entity is
// [id, key, passages, embedded], a document [id, key], a passage [id, bm25]; `foreign` are passages by their words in
// another language than English.
// mode: read
// param $names: list<string>: normalised names, the runs of words of the question
// param $words: string: the question's words, as a full-text query
// param $terms: string: its words as those of passages in other languages than English are stored; empty in English
// param $typed: string: its words in one spelling, as a full-text query; empty if all are common
// param $k: int: how many passages
// returns: entities, documents, passages, foreign, tree
CALL () {
  MATCH (e:Entity)
  WHERE e.key IN $names
  WITH e.id AS id, e.key AS key, COUNT { (e)-[:FROM_CHUNK]->(:Chunk) } AS passages, e.embedding IS NOT NULL AS embedded
  ORDER BY id
  RETURN collect([id, key, passages, embedded]) AS entities
}
CALL () {
  MATCH (d:Document)
  WHERE d.key IN $names AND EXISTS { (d)<-[:FROM_DOCUMENT]-(c:Chunk) WHERE c.embedding IS NOT NULL }
  WITH DISTINCT d.key AS key
  ORDER BY key
  RETURN collect(key) AS documents
}
CALL () {
  CALL () {
    CALL db.index.fulltext.queryNodes('chunk_text', $words, {limit: $k}) YIELD node, score
    RETURN node.id AS id, score
    UNION ALL
    MATCH (g:Graph {id: 'graph'})
    WHERE g.format >= 5 AND $typed <> ''
    CALL db.index.fulltext.queryNodes('chunk_exact', $typed, {limit: $k}) YIELD node, score
    RETURN node.id AS id, score
  }
  WITH id, max(score) AS score
  ORDER BY score DESC, id
  RETURN collect([id, score]) AS passages
}
CALL () {
  MATCH (g:Graph {id: 'graph'})
  WHERE g.format >= 4 AND $terms <> ''
  CALL db.index.fulltext.queryNodes('chunk_words', $terms, {limit: $k}) YIELD node, score
  WITH node.id AS id, score
  ORDER BY score DESC, id
  RETURN collect([id, score]) AS foreign
}
RETURN entities, documents, passages, foreign, EXISTS { (:Graph {id: 'graph', treeState: 'complete'}) } AS tree

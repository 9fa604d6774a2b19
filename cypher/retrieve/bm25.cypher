// Route bm25: passages that share words with the question, by words alone (Lucene's BM25).
// mode: read
// param $k: int: how many
// param $words: string: the question's words, as a full-text query
// returns: id, score
CALL db.index.fulltext.queryNodes('chunk_text', $words, {limit: $k}) YIELD node, score
RETURN node.id AS id, score
ORDER BY score DESC, id

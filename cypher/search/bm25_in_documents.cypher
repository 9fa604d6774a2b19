// Passages of some documents that share words with the question, by words alone (Lucene's BM25 over the whole graph).
// mode: read
// param $documents: list<string>: document ids
// param $k: int: how many
// param $words: string: the question's words, as a full-text query
// returns: id, score
CALL db.index.fulltext.queryNodes('chunk_text', $words) YIELD node, score
WHERE EXISTS { MATCH (node)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
RETURN node.id AS id, score
ORDER BY score DESC, id
LIMIT $k

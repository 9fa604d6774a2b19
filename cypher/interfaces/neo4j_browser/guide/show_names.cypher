// Entities by a word of their names, the best match first.
// mode: read
// param $words: string: words, as Lucene's query parser reads them
// returns: e, score
CALL db.index.fulltext.queryNodes('entity_names', $words)
YIELD node AS e, score
RETURN e, score
ORDER BY score DESC, e.id
LIMIT 10

// What full text found before the languages of texts were known: whole words, in the index of English.
CALL db.index.fulltext.queryNodes('chunk_text', $words, {limit: $most}) YIELD node, score
RETURN node.name AS name
ORDER BY score DESC, node.id

// Where a fact is stated: the document, the page, and the characters from `start` up to `end`, with those words.
// mode: read
// param $fact: string: the fact's id
// returns: text, document, uri, page, start, end, words
MATCH (f:Fact {id: $fact})-[place:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
RETURN f.text AS text, d.name AS document, d.uri AS uri, c.page AS page, place.start AS start, place.end AS end,
       substring(c.text, place.start - c.start, place.end - place.start) AS words
ORDER BY document, start

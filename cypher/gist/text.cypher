// The text of a document: its passages in order, each with its first character.
// mode: read
// param $document: string: document id
// returns: start, text, tokens
MATCH (c:Chunk)-[:FROM_DOCUMENT]->(:Document {id: $document})
RETURN c.start AS start, c.text AS text, c.tokens AS tokens
ORDER BY start

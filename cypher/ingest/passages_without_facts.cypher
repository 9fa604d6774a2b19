// Passages of some documents whose atomic facts no model and no recording wrote, in reading order.
// mode: read
// param $documents: list<string>: document ids, in order
// returns: id, tokens
UNWIND range(0, size($documents) - 1) AS place
MATCH (c:Chunk {state: 'extracted'})-[:FROM_DOCUMENT]->(:Document {id: $documents[place]})
WHERE coalesce(c.factsBy, 'local') = 'local'
RETURN c.id AS id, c.tokens AS tokens
ORDER BY place, c.index

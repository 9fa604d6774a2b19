// Passages of some documents whose atomic facts no model and no recording wrote, in reading order; "unread" where
// a model's reply to the same request was of no use.
// mode: read
// param $documents: list<string>: document ids, in order
// param $request: string: what passages would be asked with
// returns: id, tokens, unread
UNWIND range(0, size($documents) - 1) AS place
MATCH (c:Chunk {state: 'extracted'})-[:FROM_DOCUMENT]->(:Document {id: $documents[place]})
WHERE coalesce(c.factsBy, 'local') = 'local'
RETURN c.id AS id, c.tokens AS tokens, coalesce(c.factsUnreadBy = $request, false) AS unread
ORDER BY place, c.index

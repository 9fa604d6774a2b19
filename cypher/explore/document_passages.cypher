// The passages of some documents.
// mode: read
// param $documents: list<string>: document ids
// returns: id
UNWIND $documents AS id
MATCH (c:Chunk)-[:FROM_DOCUMENT]->(:Document {id: id})
RETURN c.id AS id
ORDER BY id

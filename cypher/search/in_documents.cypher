// Those of some passages that are of some documents.
// mode: read
// param $ids: list<string>: passage ids
// param $documents: list<string>: document ids
// returns: id
UNWIND $ids AS id
MATCH (c:Chunk {id: id})-[:FROM_DOCUMENT]->(d:Document)
WHERE d.id IN $documents
RETURN c.id AS id
ORDER BY id

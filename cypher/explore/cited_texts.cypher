// The passages that an answer cites, with the hashes of their documents' texts.
// mode: read
// param $ids: list<string>: passage ids
// returns: id, start, text, sha256
UNWIND $ids AS id
MATCH (c:Chunk {id: id})-[:FROM_DOCUMENT]->(d:Document)
RETURN c.id AS id, coalesce(c.start, 0) AS start, c.text AS text, coalesce(d.sha256, '') AS sha256

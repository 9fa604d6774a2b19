// What is said of passages in a result.
// mode: read
// param $ids: list<string>: passage ids
// returns: id, document, title, start, end, page, text
UNWIND $ids AS id
MATCH (c:Chunk {id: id})-[:FROM_DOCUMENT]->(d:Document)
RETURN id, d.uri AS document, d.name AS title, c.start AS start, c.end AS end, c.page AS page, c.text AS text

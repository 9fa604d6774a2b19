// What is said of passages in a result.
// mode: read
// param $ids: list<string>: passage ids
// returns: passages
// each: id, document, title, start, end, page, text
UNWIND $ids AS id
MATCH (c:Chunk {id: id})-[:FROM_DOCUMENT]->(d:Document)
RETURN collect([id, d.uri, d.name, c.start, c.end, c.page, c.text]) AS passages

// What is said of passages in a result. A graph that other software filled may not say where they stand.
// mode: read
// param $ids: list<string>: passage ids
// returns: passages
// each: id, document, title, start, end, page, text
UNWIND $ids AS id
MATCH (c:Chunk {id: id})-[:FROM_DOCUMENT]->(d:Document)
RETURN collect([id, d.uri, d.name, coalesce(c.start, 0), coalesce(c.end, size(c.text)), c.page, c.text]) AS passages

// The documents of some passages.
// mode: read
// param $ids: list<string>: passage ids
// returns: passages
// each: id, document
UNWIND $ids AS id
MATCH (c:Chunk {id: id})-[:FROM_DOCUMENT]->(d:Document)
RETURN collect([id, d.id]) AS passages

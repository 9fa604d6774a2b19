// The types that these passages proposed, for the schema's expansion.
// mode: read
// param $passages: list<string>: passage ids
// returns: passage, document, proposals
UNWIND $passages AS id
MATCH (c:Chunk {id: id})-[:FROM_DOCUMENT]->(d:Document)
WHERE c.proposals IS NOT NULL
RETURN c.id AS passage, d.id AS document, c.proposals AS proposals
ORDER BY passage

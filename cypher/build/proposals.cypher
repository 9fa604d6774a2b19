// The types that chunks proposed, for the schema's expansion.
// mode: read
// param $without: list<string>: chunks that do not count
// returns: chunk, document, proposals
MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
WHERE c.proposals IS NOT NULL AND NOT c.id IN $without
RETURN c.id AS chunk, d.id AS document, c.proposals AS proposals
ORDER BY chunk

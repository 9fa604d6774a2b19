// The types that chunks proposed, for the schema's expansion.
// mode: read
// returns: chunk, document, proposals
MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
WHERE c.proposals IS NOT NULL
RETURN c.id AS chunk, d.id AS document, c.proposals AS proposals
ORDER BY chunk

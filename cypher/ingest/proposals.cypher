// The types that passages proposed, for the schema's expansion.
// mode: read
// returns: passage, document, proposals
MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
WHERE c.proposals IS NOT NULL
RETURN c.id AS passage, d.id AS document, c.proposals AS proposals
ORDER BY passage

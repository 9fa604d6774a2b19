// What passages of an earlier version's graph proposed for the schema.
// mode: read
// returns: passage, proposals
MATCH (c:Chunk)
WHERE c.proposals IS NOT NULL
RETURN c.id AS passage, c.proposals AS proposals

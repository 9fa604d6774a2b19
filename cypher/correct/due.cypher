// Passages to correct.
// mode: read
// returns: id
MATCH (c:Chunk)
WHERE c.correctDue
RETURN c.id AS id
ORDER BY id

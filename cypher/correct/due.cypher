// Passages to correct.
// mode: read
// returns: id
MATCH (c:Chunk:CorrectDue)
USING SCAN c:CorrectDue
RETURN c.id AS id
ORDER BY id

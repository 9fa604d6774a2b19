// Passages that have no vector yet.
// mode: read
// returns: id, text
MATCH (c:Chunk:Pending)-[:FROM_DOCUMENT]->(d:Document)
USING SCAN c:Pending
RETURN c.id AS id, d.name + '\n' + c.text AS text

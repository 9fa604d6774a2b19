// Passages that have no vector yet.
// mode: read
// returns: id, name, text
MATCH (c:Chunk:Pending)-[:FROM_DOCUMENT]->(d:Document)
USING SCAN c:Pending
RETURN c.id AS id, c.name AS name, d.name + '\n' + c.text AS text

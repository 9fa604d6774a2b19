// Passages whose atomic facts no model and no recording wrote, in reading order.
// mode: read
// returns: id, document, tokens
MATCH (c:Chunk {state: 'extracted'})-[:FROM_DOCUMENT]->(d:Document)
WHERE coalesce(c.factsBy, 'local') = 'local'
RETURN c.id AS id, d.id AS document, c.tokens AS tokens
ORDER BY d.source, d.id, c.index

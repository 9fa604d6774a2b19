// All passages, of an earlier version's graph; of a document's first one also the document.
// mode: read
// returns: id, text, document
MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
RETURN c.id AS id, d.name + '\n' + c.text AS text, CASE c.index WHEN 0 THEN d.id END AS document

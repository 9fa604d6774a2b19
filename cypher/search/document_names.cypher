// What documents are called, and the addresses of their files.
// mode: read
// returns: title, source
MATCH (d:Document)
RETURN d.name AS title, d.source AS source
ORDER BY d.id

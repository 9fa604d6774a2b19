// Whether the graph has a document: one row if so.
// mode: read
// returns: id
MATCH (d:Document)
RETURN d.id AS id
LIMIT 1

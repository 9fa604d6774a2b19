// Pages that have no vector of their present gist yet.
// mode: read
// returns: id, name, text
MATCH (p:Page:Pending)
USING SCAN p:Pending
WHERE p.gist IS NOT NULL
RETURN p.id AS id, p.name AS name, p.gist AS text

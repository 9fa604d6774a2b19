// Pages that have no vector of their present gist yet.
// mode: read
// returns: id, text
MATCH (p:Page:Pending)
USING SCAN p:Pending
WHERE p.gist IS NOT NULL
RETURN p.id AS id, p.gist AS text

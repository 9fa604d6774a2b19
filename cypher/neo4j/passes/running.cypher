// The passes that have begun and show signs of life.
// mode: read
// returns: id, kind, who
MATCH (p:WritePass)
WHERE p.begun AND p.until > datetime.realtime()
RETURN p.id AS id, p.kind AS kind, p.who AS who
ORDER BY p.id

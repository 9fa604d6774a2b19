// The types that at least so many passages proposed for the schema.
// mode: read
// param $least: int: how many passages
// returns: id, kind, name
MATCH (t:ProposedType)
WHERE COUNT { (t)<-[:PROPOSED]-() } >= $least
RETURN t.id AS id, t.kind AS kind, t.name AS name
ORDER BY id

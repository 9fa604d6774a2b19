// The types that passages proposed for the schema so often, and so surely.
// mode: read
// param $least: int: how often at least
// param $threshold: float: least confidence
// returns: id, kind, name
MATCH (t:ProposedType)
WHERE COUNT { (t)<-[:PROPOSED]-() } >= $least
  AND COUNT { (t)<-[p:PROPOSED]-() WHERE p.confidence >= $threshold } >= $least
RETURN t.id AS id, t.kind AS kind, t.name AS name
ORDER BY id

// The types that entities have, whether the schema has them or not.
// mode: read
// returns: type
MATCH (e:Entity)
WHERE e.type IS NOT NULL
RETURN DISTINCT e.type AS type
ORDER BY type

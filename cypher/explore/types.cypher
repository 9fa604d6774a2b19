// The types that entities have, whether the schema has them or not, and how many entities each has.
// mode: read
// returns: type, entities
MATCH (e:Entity)
WHERE e.type IS NOT NULL
RETURN e.type AS type, count(*) AS entities
ORDER BY entities DESC, type

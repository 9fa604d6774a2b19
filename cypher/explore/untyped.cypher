// How many entities have no type of the schema.
// mode: read
// returns: entities
MATCH (e:Entity)
WHERE NOT e.inSchema
RETURN count(*) AS entities

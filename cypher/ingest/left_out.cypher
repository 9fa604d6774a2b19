// Some passages that keep what was outside the schema, and were bounded by another schema than what their seed is now.
// mode: read
// param $seed: string: the id of the schema that they began with
// param $schema: string: the id of a schema
// param $limit: int: how many
// returns: id, leftOut, notKept, counts
MATCH (c:Chunk)
WHERE c.seed = $seed AND (c.boundBy < $schema OR c.boundBy > $schema)
RETURN c.id AS id, c.leftOut AS leftOut, coalesce(c.notKept, '{}') AS notKept,
       c {.kept, .mapped, .dropped, .offSchema, .turned} AS counts
LIMIT $limit

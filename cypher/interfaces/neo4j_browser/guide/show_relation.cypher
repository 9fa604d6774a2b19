// The entities that relationships of one type join.
// mode: read
// param $type: string: the relationship's type
// returns: joined
MATCH joined = (a:Entity)-[r]->(b:Entity)
WHERE type(r) = $type
RETURN joined
ORDER BY coalesce(r.weight, 0) DESC, a.id, b.id
LIMIT 60

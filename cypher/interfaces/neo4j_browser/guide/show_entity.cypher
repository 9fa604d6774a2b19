// An entity and what it is joined to.
// mode: read
// param $id: string: the entity
// returns: joined
MATCH joined = (:Entity {id: $id})-[r]-(other:Entity)
WHERE NOT type(r) IN ['SAME_AS', 'FORM_OF']
RETURN joined
ORDER BY coalesce(r.weight, 0) DESC, other.id
LIMIT 40

// The predicates of the relations that no schema names, the most frequent first.
// mode: read
// param $type: string: the type that such relationships have
// param $most: int: how many
// returns: predicate, count
MATCH (:Entity)-[r]->(:Entity)
WHERE type(r) = $type
WITH r.predicate AS predicate, count(*) AS count
ORDER BY count DESC, predicate
LIMIT $most
RETURN predicate, count

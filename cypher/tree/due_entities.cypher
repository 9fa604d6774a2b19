// Entities that have changed since the tree saw them.
// mode: read
// param $runs: int: how many runs there have been, this one included
// returns: id
MATCH (e:Entity)
WHERE e.treeDue < $runs
RETURN e.id AS id

// Entities that have changed since the tree saw them.
// mode: read
// returns: id
MATCH (e:Entity)
WHERE e.treeDue IS NOT NULL
RETURN e.id AS id

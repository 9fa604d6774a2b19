// All key elements, of an earlier version's graph.
// mode: read
// returns: id, key
MATCH (k:KeyElement)
RETURN k.id AS id, k.key AS key

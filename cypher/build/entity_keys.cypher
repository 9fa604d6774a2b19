// The normalised names of all entities, to find likely duplicates of new ones.
// mode: read
// returns: id, key
MATCH (e:Entity)
RETURN e.id AS id, e.key AS key

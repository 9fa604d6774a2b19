// Key elements of an earlier version's graph that lack a property by which others are found, or are not complete.
// mode: read
// returns: id, key
MATCH (k:KeyElement)
WHERE k.stem IS NULL OR (k:Entity AND k.nameWords IS NULL) OR k:Pending
RETURN k.id AS id, k.key AS key

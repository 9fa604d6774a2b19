// All key elements: the normalised name to find likely duplicates of new ones, the stem to find forms of one thing.
// mode: read
// returns: id, key, stem, isEntity
MATCH (k:KeyElement)
RETURN k.id AS id, k.key AS key, k.stem AS stem, k:Entity AS isEntity

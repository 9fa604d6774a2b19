// Entities and key elements whose vectors are new, so that what is like them is not known yet.
// mode: read
// returns: id, key, isEntity
MATCH (k:KeyElement:Pending)
USING SCAN k:Pending
WHERE k.joinDue
RETURN k.id AS id, k.key AS key, k:Entity AS isEntity

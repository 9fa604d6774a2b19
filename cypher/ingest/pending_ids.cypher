// The entities and key elements that are not complete.
// mode: read
// returns: id
MATCH (k:KeyElement:Pending)
USING SCAN k:Pending
RETURN k.id AS id

// The entities and key elements that are not complete.
// mode: read
// returns: id
MATCH (k:KeyElement:Pending)
RETURN k.id AS id

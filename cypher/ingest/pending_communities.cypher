// Communities that have no vector of their present name and summary yet.
// mode: read
// returns: id, name, text
MATCH (c:Community:Pending)
USING SCAN c:Pending
RETURN c.id AS id, c.name AS name, c.name + '\n' + c.summary AS text

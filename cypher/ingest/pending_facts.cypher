// Facts that have no vector yet.
// mode: read
// returns: id, name, text
MATCH (f:Fact:Pending)
USING SCAN f:Pending
RETURN f.id AS id, f.text AS name, f.text AS text

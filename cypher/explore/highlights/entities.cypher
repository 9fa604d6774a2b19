// The entities with the most facts.
// mode: read
// param $limit: int: how many
// returns: id, name, type, facts
MATCH (e:Entity)
WITH e, COUNT { (e)<-[:SUBJECT|OBJECT]-(:Fact) } AS facts
ORDER BY facts DESC, e.name, e.id
LIMIT $limit
RETURN e.id AS id, e.name AS name, e.type AS type, facts

// The entities with the most facts, sentences included; of as many the most often mentioned first.
// mode: read
// param $limit: int: how many
// returns: id, name, type, facts
MATCH (e:Entity)
WITH e, COUNT { (e)<-[:SUBJECT|OBJECT|MENTIONS]-() } AS facts
WITH e, facts, reduce(n = 0, count IN [(e)-[at:FROM_CHUNK]->(:Chunk) | coalesce(at.count, 1)] | n + count) AS mentions
ORDER BY facts DESC, mentions DESC, e.name, e.id
LIMIT $limit
RETURN e.id AS id, e.name AS name, e.type AS type, facts

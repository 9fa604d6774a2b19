// A page of entities, in the order of their ids, each with the community that it is in.
// mode: read
// param $after: string: the last id of the page before
// param $limit: int: how many entities
// returns: id, community, score, signature
MATCH (e:Entity)
WHERE e.id > $after
WITH e
ORDER BY e.id
LIMIT $limit
OPTIONAL MATCH (e)-[member:MEMBER_OF]->(c:Community)
RETURN e.id AS id, c.id AS community, member.score AS score, member.signature AS signature

// The relations between entities by the types of both ends, the most frequent first.
// mode: read
// param $most: int: how many
// returns: head, type, tail, count
MATCH (a:Entity)-[r]->(b:Entity)
WHERE r.fact IS NOT NULL
WITH coalesce([label IN labels(a) WHERE NOT label IN ['Entity', 'KeyElement', 'Pending']][0], 'Entity') AS head,
     type(r) AS type,
     coalesce([label IN labels(b) WHERE NOT label IN ['Entity', 'KeyElement', 'Pending']][0], 'Entity') AS tail
WITH head, type, tail, count(*) AS count
ORDER BY count DESC, type, head, tail
LIMIT $most
RETURN head, type, tail, count

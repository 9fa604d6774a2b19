// The types that entities have, each with its label, how many entities have it, and some of their names.
// mode: read
// param $most: int: how many types
// returns: label, count, examples
MATCH (e:Entity)
WHERE e.id IS NOT NULL
WITH e ORDER BY e.id // by the index that the key has, so that one graph has one order
UNWIND [label IN labels(e) WHERE NOT label IN ['Entity', 'KeyElement', 'Pending']] AS label
WITH label, count(*) AS count, collect(e.name)[..3] AS examples
ORDER BY count DESC, label
LIMIT $most
RETURN label, count, examples

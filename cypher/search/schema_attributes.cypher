// The attributes that entities have, by the type of the entity, the most frequent first, each with one value.
// mode: read
// param $most: int: how many
// returns: label, key, count, example
MATCH (e:Entity)-[:HAS_ATTRIBUTE]->(a:Attribute)
WITH coalesce([label IN labels(e) WHERE NOT label IN ['Entity', 'KeyElement', 'Pending']][0], 'Entity') AS label,
     a.key AS key, count(*) AS count, min(a.value) AS example
ORDER BY count DESC, label, key
LIMIT $most
RETURN label, key, count, example

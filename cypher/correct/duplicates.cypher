// Pairs of entities that are likely one, by the likeness of their names.
// mode: read
// param $limit: int: how many
// returns: one, other, names, types, passages, score
MATCH (a:Entity)-[likeness:SAME_AS]->(b:Entity)
WITH a, b, likeness.score AS score
ORDER BY score DESC, a.id, b.id
LIMIT $limit
WITH a, b, score, COUNT { (a)-[:FROM_CHUNK]->() } AS of_one, COUNT { (b)-[:FROM_CHUNK]->() } AS of_other
RETURN a.id AS one, b.id AS other, [a.name, b.name] AS names, [a.type, b.type] AS types,
       [of_one, of_other] AS passages, score
ORDER BY score DESC, one, other

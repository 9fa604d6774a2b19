// Entities that the question names, and how many passages mention each.
// mode: read
// param $names: list<string>: normalised names, the runs of words of the question
// returns: entities
// each: id, key, passages
MATCH (e:Entity)
WHERE e.key IN $names
WITH e.id AS id, e.key AS key, COUNT { (e)-[:FROM_CHUNK]->(:Chunk) } AS passages
ORDER BY id
RETURN collect([id, key, passages]) AS entities

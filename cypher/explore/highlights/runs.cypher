// The runs of readers that were kept, the last one first.
// mode: read
// param $limit: int: how many
// returns: id, question, reader, steps
MATCH (r:Run)
WITH r
ORDER BY r.at DESC, r.id
LIMIT $limit
RETURN r.id AS id, r.question AS question, r.reader AS reader, COUNT { (r)-[:HAS_STEP]->() } AS steps
ORDER BY r.at DESC, r.id

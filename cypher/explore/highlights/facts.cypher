// The facts that the most passages state.
// mode: read
// param $limit: int: how many
// returns: id, text, passages
MATCH (f:Fact)
WHERE EXISTS { (f)-[:SUBJECT]->() }
WITH f, COUNT { (f)-[:FROM_CHUNK]->() } AS passages
ORDER BY passages DESC, f.text, f.id
LIMIT $limit
RETURN f.id AS id, f.text AS text, passages

// What passages state.
// mode: read
// param $passages: list<string>: passage ids
// returns: fact, text
MATCH (c:Chunk)<-[:FROM_CHUNK]-(f:Fact)
WHERE c.id IN $passages
RETURN DISTINCT f.id AS fact, f.text AS text
ORDER BY fact

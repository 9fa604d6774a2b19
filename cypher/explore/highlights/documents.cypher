// The documents that say most: those with the most facts.
// mode: read
// param $limit: int: how many
// returns: id, name, facts
MATCH (d:Document)
WITH d, COUNT { MATCH (f:Fact)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d) RETURN DISTINCT f } AS facts
ORDER BY facts DESC, d.name, d.id
LIMIT $limit
RETURN d.id AS id, d.name AS name, facts

// All corrections in the order in which they were made, each with how many passages it applies to.
// mode: read
// returns: id, kind, what, name, who, at, why, passages
MATCH (c:Correction)
WHERE NOT c:Entity
RETURN c.id AS id, c.kind AS kind, c.what AS what, c.name AS name, c.who AS who, c.at AS at, c.why AS why,
       COUNT { (c)-[:CORRECTS]->(:Chunk) } AS passages
ORDER BY at, id

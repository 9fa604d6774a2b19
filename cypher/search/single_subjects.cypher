// Entities that have two facts or more where the schema allows one value at a time, by their names.
// mode: read
// param $relations: list<string>: relations that have one object at a time
// param $attributes: list<string>: attributes that have one value at a time
// returns: id
MATCH (f:Fact)
WHERE f.predicate IN $relations + $attributes AND f.inSchema
MATCH (f)-[:SUBJECT]->(s:Entity)
WITH s, f.predicate AS name, count(f) AS facts
WHERE facts > 1
WITH DISTINCT s
ORDER BY s.name, s.id
RETURN s.id AS id

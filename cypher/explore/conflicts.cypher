// Pairs of facts that give an entity two values of what has one, at times that overlap, each in the words of a passage.
// Forms of one thing, and a town and its country, are no two values; a time that is the value itself ends nothing.
// mode: read
// param $relations: list<string>: relations that have one object at a time
// param $attributes: list<string>: attributes that have one value at a time
// param $most: int: how many facts of an entity are compared
// param $joining: list<string>: types of relationships between what are no two values
// returns: pairs
// each: entity, subject, name, one, value, other, otherValue
MATCH (f:Fact)
WHERE f.predicate IN $relations + $attributes AND f.inSchema
  AND f.predicate IN CASE f.kind WHEN 'triple' THEN $relations ELSE $attributes END
MATCH (f)-[:SUBJECT]->(s:Entity)
WITH f, s,
     COLLECT { MATCH (f)-[:OBJECT]->(o:Entity) RETURN o }[0] AS o,
     COLLECT {
       MATCH (f)-[at:FROM_CHUNK {found: true}]->()
       RETURN CASE WHEN f.object CONTAINS left(coalesce(at.since, at.until, '~~~~'), 4) THEN ['', '~']
                   ELSE [coalesce(at.since, ''), coalesce(at.until, '~')] END
     } AS times
ORDER BY f.id
WITH s, f.kind AS kind, f.predicate AS name, collect({fact: f, object: o, times: times})[..$most] AS said
UNWIND range(0, size(said) - 2) AS at
UNWIND said[at + 1..] AS other
WITH s, name, said[at] AS one, other, said[at].object AS a, other.object AS b
WHERE any(x IN one.times WHERE any(y IN other.times WHERE x[0] < y[1] AND y[0] < x[1]))
  AND (a IS NULL OR (a.key <> b.key AND NOT EXISTS { (a)-[r]-(b) WHERE type(r) IN $joining }))
WITH s, name, one.fact AS f, other.fact AS g
ORDER BY s.name, s.id, name, f.id, g.id
RETURN collect([s.id, s.name, name, f.id, f.object, g.id, g.object]) AS pairs

// What facts say of entities where the schema allows one value at a time: the facts of each name, with the times of the
// passages that state them, and which of their objects are one thing or one within the other, like a town and its country.
// mode: read
// param $subjects: list<string>: entity ids
// param $relations: list<string>: relations that have one object at a time
// param $attributes: list<string>: attributes that have one value at a time
// param $most: int: how many facts of an entity are compared
// param $joining: list<string>: types of relationships between objects that are no two values
// returns: groups
// each: entity, subject, name, facts, joined
UNWIND $subjects AS subject
MATCH (s:Entity {id: subject})<-[:SUBJECT]-(f:Fact)
WHERE f.inSchema AND f.predicate IN CASE f.kind WHEN 'triple' THEN $relations ELSE $attributes END
WITH s, f, COLLECT { MATCH (f)-[:OBJECT]->(o:Entity) RETURN o }[0] AS o
ORDER BY s.name, s.id, f.predicate, f.id
WITH s, f.kind AS kind, f.predicate AS name, collect({
       id: f.id, value: f.object, key: o.key, object: o.id,
       times: COLLECT {
         MATCH (f)-[at:FROM_CHUNK {found: true}]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document)
         RETURN {
           since: at.since, until: at.until, document: d.uri, title: d.name,
           metadata: [key IN keys(d) WHERE key STARTS WITH 'meta_' | [key, d[key]]]
         }
         LIMIT $most
       }
     })[..$most] AS facts
WHERE size(facts) > 1
RETURN collect([
         s.id,
         s.name,
         name,
         facts,
         COLLECT {
           UNWIND [each IN facts | each.object] AS one
           MATCH (:Entity {id: one})-[r]-(other:Entity)
           WHERE type(r) IN $joining AND other.id IN [each IN facts | each.object]
           RETURN [one, other.id]
         }
       ]) AS groups

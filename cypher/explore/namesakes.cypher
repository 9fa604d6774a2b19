// Entities of which two documents or more tell a date or, by their titles, who is meant ("Mercury (planet)"): what each
// tells, as the ids, attributes and values of facts, and its passages that name the entity.
// mode: read
// param $attributes: list<string>: attributes that have one value
// param $most: int: how many documents of an entity are compared
// returns: entity, name, type, said
CALL () {
  MATCH (f:Fact {kind: 'attribute'})-[:SUBJECT]->(e:Entity)
  WHERE f.inSchema AND f.predicate IN $attributes
  MATCH (f)-[:FROM_CHUNK {found: true}]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document)
  RETURN e, d, [f.id, f.predicate, f.object] AS fact, '' AS told
  UNION
  MATCH (d:Document)
  WHERE d.name CONTAINS ' (' AND d.name ENDS WITH ')' AND NOT d.source STARTS WITH 'adopted:'
  MATCH (e:Entity {key: toLower(split(d.name, ' (')[0])})
  WHERE EXISTS { (e)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d) }
  RETURN e, d, null AS fact, d.name AS told
}
WITH e, d, collect(fact) AS facts, max(told) AS told
WITH e, collect({document: d.id, title: d.name, told: told, facts: facts}) AS said
WHERE size(said) > 1
UNWIND said AS each
WITH e, each,
     COLLECT {
       MATCH (e)-[:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(:Document {id: each.document})
       RETURN c.id
       ORDER BY c.index
     } AS passages
ORDER BY size(passages) DESC, each.title, each.document
WITH e, collect({
       document: each.document, title: each.title, told: each.told, facts: each.facts, passages: passages
     })[..$most] AS said
RETURN e.id AS entity, e.name AS name, e.type AS type, said
ORDER BY name, entity

// One hop of a path: the neighbours of entities, each by the fact that is nearest to the question by meaning.
// mode: read
// param $entities: list<string>: entity ids
// param $k: int: how many neighbours of an entity
// param $hub: int: of an entity with more facts, only this many are looked at
// param $vector: list<float>: the question's vector
// returns: hops
// each: entity, name, next, nextName, id, cosine, predicate, forward, passages
UNWIND $entities AS entity
MATCH (e:Entity {id: entity})
CALL (e) {
  MATCH (e)<-[:SUBJECT|OBJECT]-(f:Fact)-[end:SUBJECT|OBJECT]->(next:Entity)
  WHERE next <> e AND f.embedding IS NOT NULL AND EXISTS { (f)-[:FROM_CHUNK {found: true}]->() }
  WITH f, next, type(end) = 'OBJECT' AS forward
  LIMIT $hub
  WITH f, next, forward, 2 * vector.similarity.cosine(f.embedding, $vector) - 1 AS cosine
  ORDER BY cosine DESC, f.id
  WITH next, collect({fact: f, cosine: cosine, forward: forward})[0] AS nearest
  ORDER BY nearest.cosine DESC, nearest.fact.id
  LIMIT $k
  RETURN next, nearest.fact AS f, nearest.cosine AS cosine, nearest.forward AS forward
}
WITH entity, e, next, f, cosine, forward
ORDER BY entity, cosine DESC, f.id
RETURN collect([
         entity,
         e.name,
         next.id,
         next.name,
         f.id,
         cosine,
         f.predicate,
         forward,
         COLLECT { MATCH (f)-[:FROM_CHUNK]->(c:Chunk) RETURN c.id ORDER BY c.id LIMIT $k }
       ]) AS hops

// One-hop facts of entities, the nearest to the question by meaning of each.
// mode: read
// param $entities: list<string>: entity ids
// param $k: int: how many facts of an entity
// param $hub: int: of an entity with more facts, only this many are looked at
// param $vector: list<float>: the question's vector
// param $asOf: list<string>: the first day of a time, and the day after its last; what is said of other times stays out
// returns: facts
// each: entity, id, cosine, elements, passages
UNWIND $entities AS entity
MATCH (e:Entity {id: entity})
CALL (e) {
  MATCH (e)<-[:SUBJECT|OBJECT]-(f:Fact)
  WHERE f.embedding IS NOT NULL AND EXISTS {
    (f)-[at:FROM_CHUNK {found: true}]->()
    WHERE coalesce(at.since, '') < $asOf[1] AND coalesce(at.until, '~') > $asOf[0]
  }
  WITH f LIMIT $hub
  WITH f, 2 * vector.similarity.cosine(f.embedding, $vector) - 1 AS cosine
  ORDER BY cosine DESC, f.id
  LIMIT $k
  RETURN f, cosine
}
WITH entity, f, f.id AS id, cosine
ORDER BY entity, cosine DESC, id
RETURN collect([
         entity,
         id,
         cosine,
         COLLECT { MATCH (f)-[:SUBJECT|OBJECT|MENTIONS]->(k:KeyElement) RETURN k.id ORDER BY k.id },
         COLLECT { MATCH (f)-[:FROM_CHUNK]->(c:Chunk) RETURN c.id ORDER BY c.id LIMIT $k }
       ]) AS facts

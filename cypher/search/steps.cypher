// Hops of paths: the neighbours of entities, each by the fact that is nearest to the question by meaning; then those of
// the entities that the best of these facts lead to, from which the paths walk on.
// mode: read
// param $entities: list<string>: entity ids
// param $k: int: how many neighbours of an entity
// param $hub: int: of an entity with more facts, only this many are looked at
// param $beam: int: how many facts lead on; 0 for one hop alone
// param $vector: list<float>: the question's vector
// param $asOf: list<string>: the first day of a time, and the day after its last; what is said of other times stays out
// returns: hops
// each: entity, name, next, nextName, id, cosine, predicate, forward, passages
CALL () {
  UNWIND $entities AS entity
  MATCH (e:Entity {id: entity})
  CALL (e) {
    MATCH (e)<-[:SUBJECT|OBJECT]-(f:Fact)-[end:SUBJECT|OBJECT]->(next:Entity)
    WHERE next <> e AND f.embedding IS NOT NULL AND EXISTS {
      (f)-[at:FROM_CHUNK {found: true}]->()
      WHERE coalesce(at.since, '') < $asOf[1] AND coalesce(at.until, '~') > $asOf[0]
    }
    WITH e, f, next, type(end) = 'OBJECT' AS forward
    LIMIT $hub
    WITH e, f, next, forward, 2 * vector.similarity.cosine(f.embedding, $vector) - 1 AS cosine
    ORDER BY cosine DESC, f.id
    WITH next, collect({from: e, next: next, fact: f, cosine: cosine, forward: forward})[0] AS hop
    ORDER BY hop.cosine DESC, hop.fact.id
    LIMIT $k
    RETURN hop
  }
  RETURN collect(hop) AS hops
}
CALL (hops) {
  UNWIND hops AS hop
  WITH hops, hop.fact AS fact, max(hop.cosine) AS cosine
  ORDER BY cosine DESC, fact.id
  LIMIT $beam
  WITH hops, collect(fact) AS best
  UNWIND hops AS hop
  WITH hop, best
  WHERE hop.fact IN best
  WITH DISTINCT hop.next AS e
  WHERE NOT e.id IN $entities
  CALL (e) {
    MATCH (e)<-[:SUBJECT|OBJECT]-(f:Fact)-[end:SUBJECT|OBJECT]->(next:Entity)
    WHERE next <> e AND f.embedding IS NOT NULL AND EXISTS {
      (f)-[at:FROM_CHUNK {found: true}]->()
      WHERE coalesce(at.since, '') < $asOf[1] AND coalesce(at.until, '~') > $asOf[0]
    }
    WITH e, f, next, type(end) = 'OBJECT' AS forward
    LIMIT $hub
    WITH e, f, next, forward, 2 * vector.similarity.cosine(f.embedding, $vector) - 1 AS cosine
    ORDER BY cosine DESC, f.id
    WITH next, collect({from: e, next: next, fact: f, cosine: cosine, forward: forward})[0] AS hop
    ORDER BY hop.cosine DESC, hop.fact.id
    LIMIT $k
    RETURN hop
  }
  RETURN collect(hop) AS farther
}
UNWIND hops + farther AS hop
WITH hop.from AS e, hop.next AS next, hop.fact AS f, hop.cosine AS cosine, hop.forward AS forward
ORDER BY e.id, cosine DESC, f.id
RETURN collect([
         e.id,
         e.name,
         next.id,
         next.name,
         f.id,
         cosine,
         f.predicate,
         forward,
         COLLECT { MATCH (f)-[:FROM_CHUNK]->(c:Chunk) RETURN c.id ORDER BY c.id LIMIT $k }
       ]) AS hops

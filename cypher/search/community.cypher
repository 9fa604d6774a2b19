// Route community: the communities nearest to the question by meaning; of each, also through the communities below it,
// the entities that are nearest; of those the facts that are nearest, with the passages that state them. All in one
// row, best first: a fact is [id, cosine, elements, passages]. Without a finished tree both are empty, and its index is
// not looked at.
// mode: read
// param $k: int: how many the vector index is asked for
// param $count: int: how many communities of those
// param $members: int: how many entities of a community
// param $facts: int: how many facts of an entity
// param $best: int: how many facts in all
// param $hub: int: of a community with more entities, and of an entity with more facts, only this many are looked at
// param $vector: list<float>: the question's vector
// param $asOf: list<string>: the first day of a time, and the day after its last; what is said of other times stays out
// returns: communities, facts
MATCH (:Graph {id: 'graph', treeState: 'complete'})
CALL () {
  CALL db.index.vector.queryNodes('community_embedding', $k, $vector) YIELD node AS c, score
  RETURN c, 2 * score - 1 AS score
  ORDER BY score DESC, c.id
  LIMIT $count
}
CALL (c) {
  MATCH (c)<-[:PARENT*0..]-(:Community)<-[:MEMBER_OF]-(e:Entity)
  WHERE e.embedding IS NOT NULL
  WITH e
  LIMIT $hub
  WITH e, 2 * vector.similarity.cosine(e.embedding, $vector) - 1 AS cosine
  ORDER BY cosine DESC, e.id
  LIMIT $members
  RETURN collect(e) AS nearest
}
WITH collect({id: c.id, name: c.name, summary: c.summary, size: c.size, score: score}) AS communities,
     collect(nearest) AS groups
RETURN communities,
       COLLECT {
         UNWIND groups AS nearest
         UNWIND nearest AS e
         CALL (e) {
           MATCH (e)<-[:SUBJECT|OBJECT]-(f:Fact)
           WHERE f.embedding IS NOT NULL AND EXISTS {
             (f)-[at:FROM_CHUNK {found: true}]->()
             WHERE coalesce(at.since, '') < $asOf[1] AND coalesce(at.until, '~') > $asOf[0]
           }
           WITH DISTINCT f
           LIMIT $hub
           WITH f, 2 * vector.similarity.cosine(f.embedding, $vector) - 1 AS cosine
           ORDER BY cosine DESC, f.id
           LIMIT $facts
           RETURN f, cosine
         }
         WITH DISTINCT f, cosine
         ORDER BY cosine DESC, f.id
         LIMIT $best
         RETURN [
           f.id,
           cosine,
           COLLECT { MATCH (f)-[:SUBJECT|OBJECT|MENTIONS]->(k:KeyElement) RETURN k.id ORDER BY k.id },
           COLLECT { MATCH (f)-[:FROM_CHUNK]->(o:Chunk) RETURN o.id ORDER BY o.id }
         ] AS fact
       } AS facts

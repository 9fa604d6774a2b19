// The relationships among some nodes. Each is found from the end that it points away from, where few nodes have many;
// but FROM_CHUNK is found from the passage. Times: [since, until] of each place that states the fact.
// mode: read
// param $ids: list<string>: node ids
// param $most: int: how many relationships of a node are looked at
// returns: source, target, type, predicate, fact, number, times
UNWIND $ids AS id
MATCH (n:KeyElement|Fact|Chunk|Document|Attribute|Keyword|Community|Page|Run|Step {id: id})
WITH collect(DISTINCT n) AS those
UNWIND those AS n
CALL (n, those) {
  MATCH (n)-[r]->(m)
  WITH those, n, r, m
  LIMIT $most
  WITH those, n, r, m
  WHERE m IN those AND NOT r:FROM_CHUNK
  RETURN r, n AS source, m AS target
  UNION ALL
  MATCH (n:Chunk)<-[r:FROM_CHUNK]-(m)
  WITH those, n, r, m
  LIMIT $most
  WITH those, n, r, m
  WHERE m IN those
  RETURN r, m AS source, n AS target
}
WITH source, target, r,
     CASE type(r)
       WHEN 'MENTIONS' THEN source.id
       WHEN 'HAS_ATTRIBUTE' THEN COLLECT {
         MATCH (target)<-[:VALUE]-(f:Fact)
         RETURN f.id
         ORDER BY f.id
         LIMIT 1
       }[0]
       ELSE r.fact
     END AS fact
RETURN source.id AS source, target.id AS target, type(r) AS type, r.predicate AS predicate, fact, r.number AS number,
       COLLECT {
         MATCH (:Fact {id: fact})-[at:FROM_CHUNK]->()
         RETURN DISTINCT [at.since, at.until] AS time
         ORDER BY time
       } AS times
ORDER BY source, target, type, fact, number

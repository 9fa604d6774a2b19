// The relationships among some nodes. They are found from the end that has fewer; where there are several hubs, of each
// so many of its relationships are looked at.
// mode: read
// param $ids: list<string>: node ids
// param $hub: int: how many relationships make a hub, and how many of a hub's are looked at
// returns: source, target, type, predicate, fact, number
UNWIND $ids AS id
MATCH (n:KeyElement|Fact|Chunk|Document|Attribute|Keyword|Community|Page|Run|Step {id: id})
WITH collect(n) AS those, collect(CASE WHEN COUNT { (n)--() } > $hub THEN n END) AS hubs
UNWIND those AS n
CALL (n, hubs) {
  WITH n
  WHERE COUNT { (n)--() } <= $hub
  MATCH (n)-[r]-(m)
  WHERE m.id IN $ids
  RETURN r
  UNION ALL
  WITH n, hubs
  WHERE size(hubs) > 1 AND n IN hubs
  MATCH (n)-[r]->(m)
  WITH hubs, r, m
  LIMIT 50 * $hub
  WITH hubs, r, m
  WHERE m IN hubs
  RETURN r
}
WITH DISTINCT r, startNode(r) AS source, endNode(r) AS target
RETURN source.id AS source, target.id AS target, type(r) AS type, r.predicate AS predicate,
       CASE type(r)
         WHEN 'MENTIONS' THEN source.id
         WHEN 'HAS_ATTRIBUTE' THEN COLLECT {
           MATCH (target)<-[:VALUE]-(f:Fact)
           RETURN f.id
           ORDER BY f.id
           LIMIT 1
         }[0]
         ELSE r.fact
       END AS fact,
       r.number AS number
ORDER BY source, target, type, fact, number

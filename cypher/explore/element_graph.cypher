// The graph that GraphReader walks, in the figures of the paper's Table 9. A node is a key element with all its forms;
// its facts are, the atomic facts about it by passage, else triples and attributes; its neighbours share any fact
// with it, so that each is the other's neighbour.
// mode: read
// returns: nodes, facts, meanNeighbours, mostNeighbours, meanFacts, mostFacts
MATCH (f:Fact)-[:MENTIONS|SUBJECT|OBJECT]->(k:KeyElement)
OPTIONAL MATCH (k)-[:FORM_OF]->(r:KeyElement)
WITH DISTINCT f, coalesce(r, k) AS node
MATCH (f)-[:FROM_CHUNK]->(c:Chunk)
WITH node, c, collect(f) AS every, collect(CASE WHEN f.kind = 'atomic' THEN f END) AS atomic
UNWIND CASE WHEN size(atomic) > 0 THEN atomic ELSE every END AS f
WITH node, collect(DISTINCT f) AS facts
CALL (node) {
  MATCH (node)<-[:FORM_OF*0..1]-(:KeyElement)<-[:MENTIONS|SUBJECT|OBJECT]-(f:Fact)
  WITH DISTINCT node, f
  MATCH (f)-[:MENTIONS|SUBJECT|OBJECT]->(k:KeyElement)
  OPTIONAL MATCH (k)-[:FORM_OF]->(r:KeyElement)
  WITH DISTINCT coalesce(r, k) AS other, node
  WHERE other <> node
  RETURN count(other) AS neighbours
}
WITH count(node) AS nodes, avg(neighbours) AS meanNeighbours, max(neighbours) AS mostNeighbours,
     avg(size(facts)) AS meanFacts, max(size(facts)) AS mostFacts, collect(facts) AS chosen
UNWIND CASE WHEN nodes = 0 THEN [[null]] ELSE chosen END AS facts
UNWIND facts AS f
RETURN nodes, count(DISTINCT f) AS facts, coalesce(meanNeighbours, 0.0) AS meanNeighbours,
       coalesce(mostNeighbours, 0) AS mostNeighbours, coalesce(meanFacts, 0.0) AS meanFacts,
       coalesce(mostFacts, 0) AS mostFacts

// The graph around the seeds: the entities of seed passages and the elements of seed facts, the passages that mention
// them, and what joins them. An element that more passages mention than the cap leads to no further passage: of those
// that mention it only the seeds count, by which it was found. All in one row, which Bolt sends twice as fast as
// hundreds: each element is [id, total, passages, relations, likenesses].
// mode: read
// param $elements: list<string>: entities and key elements of seed facts
// param $passages: list<string>: seed passages
// param $cap: int: most passages of an element that are followed
// returns: allPassages, elements
WITH COUNT { (:Chunk) } AS allPassages
CALL () {
  UNWIND $elements AS id
  MATCH (k:KeyElement {id: id})
  RETURN k, true AS meant, null AS seed
  UNION ALL
  UNWIND $passages AS id
  MATCH (:Chunk {id: id})<-[:FROM_CHUNK]-(k:KeyElement)
  RETURN k, k:Entity AS meant, id AS seed
}
WITH allPassages, k, max(meant) AS meant, collect(seed) AS seeds
WHERE meant
WITH allPassages, k, seeds, COUNT { (k)-[:FROM_CHUNK]->() } AS total
RETURN allPassages, collect([
         k.id,
         total,
         CASE WHEN total > $cap THEN seeds ELSE COLLECT { MATCH (k)-[:FROM_CHUNK]->(c:Chunk) RETURN c.id } END,
         CASE
           WHEN total > $cap THEN []
           ELSE COLLECT { MATCH (k)-[:!(SAME_AS|FORM_OF|FROM_CHUNK|HAS_ATTRIBUTE)]->(o:Entity) RETURN o.id }
         END,
         COLLECT { MATCH (k:Entity)-[:SAME_AS]->(o:Entity) RETURN o.id }
       ]) AS elements

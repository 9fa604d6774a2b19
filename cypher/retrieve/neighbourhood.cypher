// The graph around the seeds: the entities of seed passages and the elements of seed facts, the passages that mention
// them, and what joins them. An element that more passages mention than the cap leads to no further passage. All in one
// row, which Bolt sends twice as fast as hundreds: each element is [id, total, passages, relations, likenesses].
// mode: read
// param $elements: list<string>: entities and key elements of seed facts
// param $passages: list<string>: seed passages
// param $cap: int: most passages of an element that are followed
// returns: allPassages, elements
WITH COUNT { (:Chunk) } AS allPassages
CALL () {
  UNWIND $elements AS id
  MATCH (k:KeyElement {id: id})
  RETURN k
  UNION
  UNWIND $passages AS id
  MATCH (:Chunk {id: id})<-[:FROM_CHUNK]-(k:Entity)
  RETURN k
}
WITH allPassages, k, COUNT { (k)-[:FROM_CHUNK]->() } AS total
WITH allPassages, k.id AS id, total,
     CASE
       WHEN total <= $cap THEN COLLECT { MATCH (k)-[:FROM_CHUNK]->(c:Chunk) RETURN c.id }
       ELSE COLLECT { MATCH (k)-[:FROM_CHUNK]->(c:Chunk) WHERE c.id IN $passages RETURN c.id }
     END AS passages,
     CASE
       WHEN total <= $cap THEN COLLECT {
         MATCH (k)-[:!(SAME_AS|FORM_OF|FROM_CHUNK|HAS_ATTRIBUTE)]->(o:Entity)
         RETURN o.id
       }
       ELSE []
     END AS relations,
     COLLECT { MATCH (k:Entity)-[:SAME_AS]->(o:Entity) RETURN o.id } AS sameAs
RETURN allPassages, collect([id, total, passages, relations, sameAs]) AS elements

// The graph around the seeds: the entities of seed passages and the elements of seed facts, entities of another type
// that are called the same, the passages that mention them, and what joins them. An element that more passages mention
// than the cap leads to no further passage: of those that mention it only the seeds count, by which it was found. All
// in one row, which Bolt sends twice as fast as hundreds: each element is [id, key, total, passages, relations,
// likenesses], each passage [id, title, cosine], its title the key of its document, to compare with the keys of
// elements, its cosine null where that is known already.
// mode: read
// param $elements: list<string>: entities and key elements of seed facts
// param $passages: list<string>: seed passages
// param $cap: int: most passages of an element that are followed
// param $known: list<string>: passages whose cosine is known
// param $vector: list<float>: the question's vector
// returns: allPassages, elements, passages
WITH COUNT { (:Chunk) } AS allPassages
CALL () {
  UNWIND $elements AS id
  MATCH (k:KeyElement {id: id})
  RETURN k, true AS meant, null AS seed
  UNION ALL
  UNWIND $passages AS id
  MATCH (seed:Chunk {id: id})<-[:FROM_CHUNK]-(k:KeyElement)
  RETURN k, k:Entity AS meant, seed
}
WITH allPassages, k, max(meant) AS meant, collect(seed) AS seeds
WHERE meant
WITH allPassages, collect([k, seeds]) AS found, collect(k) AS elements
CALL (found, elements) {
  UNWIND found AS one
  RETURN one[0] AS k, one[1] AS seeds
  UNION ALL
  UNWIND elements AS one
  MATCH (one)-[:SAME_AS]-(k:Entity)
  WHERE k.key = one.key AND NOT k IN elements
  RETURN DISTINCT k, [] AS seeds
}
WITH allPassages, k, seeds, COUNT { (k)-[:FROM_CHUNK]->() } AS total
WITH allPassages, k, total,
     CASE
       WHEN total > $cap OR total = size(seeds) THEN seeds
       ELSE COLLECT { MATCH (k)-[:FROM_CHUNK]->(c:Chunk) RETURN c }
     END AS mentions
WITH allPassages, collect(mentions) AS mentions, collect([
       k.id,
       k.key,
       total,
       [c IN mentions | c.id],
       CASE
         WHEN total > $cap THEN []
         ELSE COLLECT { MATCH (k)-[:!(SAME_AS|FORM_OF|FROM_CHUNK|HAS_ATTRIBUTE)]->(o:Entity) RETURN o.id }
       END,
       COLLECT { MATCH (k:Entity)-[:SAME_AS]->(o:Entity) RETURN o.id }
     ]) AS elements
CALL (mentions) {
  UNWIND mentions AS some
  UNWIND some AS c
  WITH DISTINCT c
  MATCH (c)-[:FROM_DOCUMENT]->(d:Document)
  RETURN collect([
           c.id,
           d.key,
           CASE WHEN NOT c.id IN $known THEN 2 * vector.similarity.cosine(c.embedding, $vector) - 1 END
         ]) AS passages
}
RETURN allPassages, elements, passages

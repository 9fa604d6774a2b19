// The graph around the seeds: the entities of seed passages and the elements of seed facts, entities of another type
// that are called the same, the passages that mention them, and what joins them. An element that more passages mention
// than the cap leads to no further passage: of those that mention it only the seeds count, by which it was found. All
// in one row of flat lists, which Bolt sends and Python reads faster than rows or lists of lists. Elements:
// id, key and all passages that mention it. Passages: id, name, with the title in it (the way to its document is the
// last of a passage's relationships), cosine (NaN where it is known already, or there is no vector), how many of the
// elements mention it; the numbers of those, one passage after the other. Relations (heads, tails) and likenesses
// between the elements: a number, an id.
// mode: read
// param $elements: list<string>: entities and key elements of seed facts
// param $passages: list<string>: seed passages
// param $cap: int: most passages of an element that are followed
// param $known: list<string>: passages whose cosine is known
// param $vector: list<float>: the question's vector
// returns: allPassages, elements, keys, totals, passages, names, cosines, counts, mentions, heads, tails, like, alike
CALL () {
  CALL () {
    UNWIND $elements AS id
    MATCH (k:KeyElement {id: id})
    RETURN k, true AS meant, null AS seed
    UNION ALL
    UNWIND $passages AS id
    MATCH (seed:Chunk {id: id})<-[:FROM_CHUNK]-(k:KeyElement)
    RETURN k, k:Entity AS meant, seed
  }
  WITH k, max(meant) AS meant, collect(seed) AS seeds
  WHERE meant
  RETURN collect([k, seeds]) AS seeded, collect(k) AS named
}
CALL (seeded, named) {
  CALL (seeded, named) {
    UNWIND seeded AS one
    RETURN one[0] AS k, one[1] AS seeds
    UNION ALL
    UNWIND named AS one
    MATCH (k:Entity {key: one.key})
    WHERE NOT k IN named
    RETURN DISTINCT k, [] AS seeds
  }
  WITH k, seeds, COUNT { (k)-[:FROM_CHUNK]->() } AS total
  WITH k, total,
       CASE
         WHEN total > $cap OR total = size(seeds) THEN seeds
         ELSE COLLECT { MATCH (k)-[:FROM_CHUNK]->(c:Chunk) RETURN c }
       END AS chunks
  RETURN collect(k) AS found, collect(total) AS totals, collect(chunks) AS chunks
}
CALL (chunks) {
  UNWIND range(0, size(chunks) - 1) AS at
  UNWIND chunks[at] AS c
  WITH c, collect(at) AS mentioning
  WITH c, mentioning,
       CASE WHEN NOT c.id IN $known THEN 2 * vector.similarity.cosine(c.embedding, $vector) - 1 END AS cosine
  RETURN collect(c.id) AS passages,
         collect(coalesce(c.name, '')) AS names,
         collect(coalesce(cosine, 0.0 / 0.0)) AS cosines,
         collect(mentioning) AS mentioned
}
CALL (mentioned) {
  UNWIND mentioned AS mentioning
  UNWIND mentioning AS at
  RETURN collect(at) AS mentions
}
CALL (found, totals) {
  UNWIND range(0, size(found) - 1) AS at
  WITH at, found[at] AS k
  WHERE totals[at] <= $cap
  MATCH (k)-[:!(SAME_AS|FORM_OF|FROM_CHUNK|HAS_ATTRIBUTE)]->(o:Entity)
  WHERE o IN found
  RETURN collect(at) AS heads, collect(o.id) AS tails
}
CALL (found) {
  UNWIND range(0, size(found) - 1) AS at
  WITH at, found[at] AS k
  MATCH (k:Entity)-[:SAME_AS]->(o:Entity)
  WHERE o IN found
  RETURN collect(at) AS like, collect(o.id) AS alike
}
RETURN COUNT { (:Chunk) } AS allPassages, [k IN found | k.id] AS elements, [k IN found | k.key] AS keys, totals,
       passages, names, cosines,
       [mentioning IN mentioned | size(mentioning)] AS counts, mentions, heads, tails, like, alike

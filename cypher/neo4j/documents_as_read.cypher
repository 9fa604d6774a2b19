// What tells a document as it is in the graph from the same one as it was: its properties, and how much was read of it.
// mode: read
// param $documents: list<string>: document ids
// returns: id, properties, passages, counts, statements
UNWIND $documents AS id
MATCH (d:Document {id: id})
CALL (d) {
  MATCH (d)<-[:FROM_DOCUMENT]-(c:Chunk)
  WITH c, COUNT { (c)<-[:FROM_CHUNK]-() } AS evidence
  RETURN count(c) AS passages, sum(evidence) AS statements,
         collect(DISTINCT [c.state, c.factsBy]) AS states,
         [sum(c.kept), sum(c.found), sum(c.offSchema), sum(c.mapped), sum(c.unnamed)] AS sums
}
WITH id, d, passages, states, sums, statements, COLLECT {
  MATCH (d)<-[:FROM_DOCUMENT]-(:Chunk)<-[:CORRECTS]-(x:Correction)
  RETURN DISTINCT x.id AS correction
  ORDER BY correction
} AS corrections
RETURN id, [key IN keys(d) WHERE NOT key IN ['id', 'addedAt'] | [key, d[key]]] AS properties, passages,
       [states, sums, COUNT { (:Page {question: ''})-[:PAGE_OF]->(d) }]
         + CASE WHEN corrections = [] THEN [] ELSE [corrections] END AS counts, statements
ORDER BY id

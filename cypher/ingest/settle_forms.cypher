// What key elements are forms of, which completes those with a vector: they point at the one that most passages mention, and are never
// merged. Where there is a tree, the entities are due in its next update, as others that are settled.
// mode: write
// param $ids: list<string>: all that this touches
// param $gone: list<string>: those that stand for themselves, or for another than before
// param $forms: list<map>: id, target, by, score
CALL () {
  UNWIND $gone AS id
  MATCH (:KeyElement {id: id})-[form:FORM_OF]->(:KeyElement)
  DELETE form
}
CALL () {
  UNWIND $forms AS form
  MATCH (k:KeyElement {id: form.id})
  MATCH (representative:KeyElement {id: form.target})
  MERGE (k)-[of:FORM_OF]->(representative)
  SET of.by = form.by,
      of.score = form.score
}
CALL () {
  OPTIONAL MATCH (g:Graph {id: 'graph'})
  UNWIND $ids AS id
  MATCH (k:KeyElement {id: id})
  SET k.treeDue = CASE WHEN k:Entity THEN g.treeRuns END
  REMOVE k.joinDue
  FOREACH (done IN CASE WHEN coalesce(k.embedding, k.elementEmbedding) IS NULL THEN [] ELSE [k] END |
    REMOVE done:Pending)
}

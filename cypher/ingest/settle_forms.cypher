// What key elements are forms of, which completes them: they point at the one that most passages mention, and are never
// merged. If any of them is not as it was read, all stay as they are: who changed it settles them.
// Where there is a tree, the entities are due in its next update, as others that are settled.
// mode: write
// param $rows: list<map>: id, mark: all that this touches, each with the mark that it had; empty if it had none
// param $gone: list<string>: those that stand for themselves, or for another than before
// param $forms: list<map>: id, target, by, score
UNWIND $rows AS row
MATCH (k:KeyElement {id: row.id})
SET k.looking = true
WITH k, row
REMOVE k.looking
WITH count(CASE WHEN coalesce(k.settling, '') = row.mark THEN 1 END) AS same
WHERE same = size($rows)
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
  UNWIND $rows AS row
  MATCH (k:KeyElement {id: row.id})
  SET k.treeDue = CASE WHEN k:Entity THEN g.treeRuns END
  WITH k, row
  WHERE row.mark <> ''
  REMOVE k:Pending, k.joinDue, k.settling
}

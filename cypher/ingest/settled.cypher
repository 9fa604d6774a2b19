// Entities and key elements that are complete, but for those that changed since they were read. Where there is a tree,
// the entities are due in its next update: marked with how many runs have been at the tree, so that a run knows what
// came after it began.
// Setting `looking` takes the lock of the element, so that its mark is read when nobody changes it.
// mode: write
// param $rows: list<map>: id, mark: the mark that it had
OPTIONAL MATCH (g:Graph {id: 'graph'})
UNWIND $rows AS row
MATCH (k:KeyElement {id: row.id})
SET k.looking = true
WITH g, k, row
REMOVE k.looking
WITH g, k, row
WHERE k.settling = row.mark
REMOVE k:Pending, k.joinDue, k.settling
SET k.treeDue = CASE WHEN k:Entity THEN g.treeRuns END

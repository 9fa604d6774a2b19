// Entities and key elements that are complete. Where there is a tree, the entities are due in its next update.
// mode: write
// param $rows: list<map>: id
OPTIONAL MATCH (g:Graph {id: 'graph'})
UNWIND $rows AS row
MATCH (k:KeyElement {id: row.id})
REMOVE k:Pending, k.joinDue
SET k.treeDue = CASE WHEN k:Entity THEN g.treeRuns END

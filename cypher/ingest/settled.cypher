// Entities and key elements that are complete, but for those without a vector, which stay pending. Where there is a
// tree, the entities are due in its next update.
// mode: write
// param $rows: list<map>: id
OPTIONAL MATCH (g:Graph {id: 'graph'})
UNWIND $rows AS row
MATCH (k:KeyElement {id: row.id})
REMOVE k.joinDue
SET k.treeDue = CASE WHEN k:Entity THEN g.treeRuns END
FOREACH (done IN CASE WHEN coalesce(k.embedding, k.elementEmbedding) IS NULL THEN [] ELSE [k] END | REMOVE done:Pending)

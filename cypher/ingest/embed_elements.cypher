// Vectors of key elements; they stay pending until their likenesses are known. Those by an old vector go, and so do the
// marks of other passes, which have not seen this vector. What changed since it was read stays as it is.
// mode: write
// param $rows: list<map>: id, mark, high, low: the vector's bytes, 16-bit fixed point
// param $mark: string: the pass's own mark
UNWIND $rows AS row
MATCH (n:KeyElement {id: row.id})
SET n.looking = true
WITH n, row
REMOVE n.looking
WITH n, row
WHERE n.settling = row.mark
CALL db.create.setNodeVectorProperty(n, CASE WHEN n:Entity THEN 'embedding' ELSE 'elementEmbedding' END,
  [i IN range(0, size(row.high) - 1) | (256 * row.high[i] + row.low[i]) / 32512.0])
SET n.joinDue = true, n.settling = $mark
FOREACH (likeness IN COLLECT { MATCH (n)-[old:SAME_AS]-(:KeyElement) RETURN old } | DELETE likeness)

// Vectors of key elements; they stay pending until their likenesses are known. Those by an old vector go;
// what passages say stays.
// mode: write
// param $rows: list<map>: id, high, low: the vector's bytes, 16-bit fixed point
UNWIND $rows AS row
MATCH (n:KeyElement {id: row.id})
CALL db.create.setNodeVectorProperty(n, CASE WHEN n:Entity THEN 'embedding' ELSE 'elementEmbedding' END,
  [i IN range(0, size(row.high) - 1) | (256 * row.high[i] + row.low[i]) / 32512.0])
SET n.joinDue = true
FOREACH (likeness IN COLLECT { MATCH (n)-[old:SAME_AS]-(:KeyElement) WHERE old.passage IS NULL RETURN old } |
  DELETE likeness)

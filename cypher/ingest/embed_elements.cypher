// Vectors of key elements; they stay pending until their likenesses are known.
// mode: write
// param $rows: list<map>: id, high, low: the vector's bytes, 16-bit fixed point
UNWIND $rows AS row
MATCH (n:KeyElement {id: row.id})
CALL db.create.setNodeVectorProperty(n, CASE WHEN n:Entity THEN 'embedding' ELSE 'elementEmbedding' END,
  [i IN range(0, size(row.high) - 1) | (256 * row.high[i] + row.low[i]) / 32512.0])

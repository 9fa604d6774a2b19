// Vectors of passages, facts, communities and pages, which are complete with that.
// mode: write
// param $rows: list<map>: id, high, low: the vector's bytes, 16-bit fixed point
UNWIND $rows AS row
MATCH (n:Chunk|Fact|Community|Page {id: row.id})
CALL db.create.setNodeVectorProperty(n, 'embedding',
  [i IN range(0, size(row.high) - 1) | (256 * row.high[i] + row.low[i]) / 32512.0])
REMOVE n:Pending

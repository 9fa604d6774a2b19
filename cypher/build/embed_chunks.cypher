// Vectors of passages, which are complete with that.
// mode: write
// param $rows: list<map>: id, vector
UNWIND $rows AS row
MATCH (n:Chunk {id: row.id})
CALL db.create.setNodeVectorProperty(n, 'embedding', row.vector)
REMOVE n:Pending

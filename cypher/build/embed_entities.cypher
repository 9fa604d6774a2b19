// Vectors of entities; they stay pending until their likenesses are known.
// mode: write
// param $rows: list<map>: id, vector
UNWIND $rows AS row
MATCH (n:Entity {id: row.id})
CALL db.create.setNodeVectorProperty(n, 'embedding', row.vector)

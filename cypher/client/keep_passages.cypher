// Tie the steps of a run to the passages that they found.
// mode: write
// param $rows: list<map>: step, rank, passage
UNWIND $rows AS row
MATCH (s:Step {id: row.step})
MATCH (c:Chunk {id: row.passage})
CREATE (s)-[:FOUND {rank: row.rank}]->(c)

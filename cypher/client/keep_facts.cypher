// Tie the steps of a run to the facts that they found.
// mode: write
// param $rows: list<map>: step, rank, fact
UNWIND $rows AS row
MATCH (s:Step {id: row.step})
MATCH (f:Fact {id: row.fact})
CREATE (s)-[:FOUND {rank: row.rank}]->(f)

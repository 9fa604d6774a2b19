// Tie the steps of a run to the facts and passages that they found, and to the pages that they read again.
// mode: write
// param $rows: list<map>: step, rank, found
UNWIND $rows AS row
MATCH (s:Step {id: row.step})
MATCH (n:Fact|Chunk|Page {id: row.found})
CREATE (s)-[:FOUND {rank: row.rank}]->(n)

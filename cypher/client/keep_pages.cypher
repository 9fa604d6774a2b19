// Tie the steps of a run to the pages that they read again.
// mode: write
// param $rows: list<map>: step, rank, page
UNWIND $rows AS row
MATCH (s:Step {id: row.step})
MATCH (p:Page {id: row.page})
CREATE (s)-[:FOUND {rank: row.rank}]->(p)

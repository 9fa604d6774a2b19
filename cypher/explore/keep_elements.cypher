// Tie the steps of a run to the key elements that they were at.
// mode: write
// param $rows: list<map>: step, element
UNWIND $rows AS row
MATCH (s:Step {id: row.step})
MATCH (k:KeyElement {id: row.element})
CREATE (s)-[:AT]->(k)

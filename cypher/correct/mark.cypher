// Passages that are to be corrected before anything is settled.
// mode: write
// param $passages: list<string>: passage ids
MATCH (g:Graph {id: 'graph'})
SET g.correctDue = true
WITH g
UNWIND $passages AS id
MATCH (c:Chunk {id: id})
SET c.correctDue = true

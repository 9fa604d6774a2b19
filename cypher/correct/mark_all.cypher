// A mark on all passages that corrections apply to.
// mode: write
MATCH (g:Graph {id: 'graph'})
SET g.correctDue = true
WITH g
MATCH (x:Correction)-[:CORRECTS]->(c:Chunk)
SET c.correctDue = true

// A mark on all passages that corrections apply to.
// mode: write
MATCH (x:Correction)-[:CORRECTS]->(c:Chunk)
SET c:CorrectDue

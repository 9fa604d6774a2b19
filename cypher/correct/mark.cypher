// Passages that are to be corrected before anything is settled.
// mode: write
// param $passages: list<string>: passage ids
UNWIND $passages AS id
MATCH (c:Chunk {id: id})
SET c:CorrectDue

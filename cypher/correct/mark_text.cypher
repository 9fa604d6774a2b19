// A mark on the passages that state an atomic fact in these words.
// mode: write
// param $text: string: of the fact
MATCH (f:Fact {text: $text})-[:FROM_CHUNK]->(c:Chunk)
SET c:CorrectDue

// Remove passages, after what they state and mention.
// mode: write
// param $passages: list<string>: passage ids
UNWIND $passages AS id
MATCH (c:Chunk {id: id})
DETACH DELETE c

// Remove chunks, after what they state and mention.
// mode: write
// param $chunks: list<string>: chunk ids
UNWIND $chunks AS id
MATCH (c:Chunk {id: id})
DETACH DELETE c

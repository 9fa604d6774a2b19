// Take away the atomic facts of these chunks; each is of one chunk alone.
// mode: write
// param $chunks: list<string>: chunk ids
UNWIND $chunks AS id
MATCH (:Chunk {id: id})<-[:FROM_CHUNK]-(f:Fact {kind: 'atomic'})
DETACH DELETE f

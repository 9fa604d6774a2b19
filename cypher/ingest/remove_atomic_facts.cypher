// Take away the atomic facts of these passages; each is of one passage alone.
// mode: write
// param $passages: list<string>: passage ids
UNWIND $passages AS id
MATCH (:Chunk {id: id})<-[:FROM_CHUNK]-(f:Fact {kind: 'atomic'})
DETACH DELETE f

// Take away what passages of an earlier version's graph proposed, now that it has nodes of its own.
// mode: write
// param $passages: list<string>: passage ids
UNWIND $passages AS id
MATCH (c:Chunk {id: id})
REMOVE c.proposals

// Claims that a run gives back.
// mode: write
// param $passages: list<string>: passage ids, sorted
// param $run: string: who has them
UNWIND $passages AS id
MATCH (c:Chunk {id: id})
WHERE c.claimedBy = $run
REMOVE c.claimedBy, c.claimedUntil

// Claims that last longer, if the run still has them.
// mode: write
// param $passages: list<string>: passage ids, sorted
// param $run: string: who has them
// param $seconds: int: how long they last from now
UNWIND $passages AS id
MATCH (c:Chunk {id: id})
WHERE c.claimedBy = $run
SET c.claimedUntil = datetime() + duration({seconds: $seconds})

// Claims that last longer, if the run still has them once nobody else changes the passages.
// mode: write
// param $passages: list<string>: passage ids, sorted
// param $run: string: who has them
// param $seconds: int: how long they last from now
UNWIND $passages AS id
MATCH (c:Chunk {id: id})
SET c.claiming = true
WITH c, c.claimedBy = $run AS has
FOREACH (_ IN CASE WHEN has THEN [1] ELSE [] END | SET c.claimedUntil = datetime() + duration({seconds: $seconds}))
REMOVE c.claiming

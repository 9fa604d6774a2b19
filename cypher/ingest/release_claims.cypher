// Claims that a run gives back.
// mode: write
// param $passages: list<string>: passage ids, sorted
// param $run: string: who has them
UNWIND $passages AS id
MATCH (c:Chunk {id: id})
SET c.claiming = true
WITH c, c.claimedBy = $run AS has
FOREACH (_ IN CASE WHEN has THEN [1] ELSE [] END | REMOVE c.claimedBy, c.claimedUntil)
REMOVE c.claiming

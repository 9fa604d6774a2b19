// Passages that a run is to read: it gets those that nobody else reads, for some seconds. Two runs that ask at the same
// time wait for each other at the first passage that both want.
// mode: write
// param $passages: list<string>: passage ids, sorted
// param $run: string: who asks
// param $gone: list<string>: runs that are known to be over
// param $seconds: int: how long a claim lasts unless it is renewed
// returns: id, done, holder
UNWIND $passages AS id
MATCH (c:Chunk {id: id})
SET c.claiming = true
WITH c, c.state = 'extracted' AS done,
     c.claimedBy IS NULL OR c.claimedBy IN [$run] + $gone OR c.claimedUntil < datetime() AS free
FOREACH (_ IN CASE WHEN free AND NOT done THEN [1] ELSE [] END |
  SET c.claimedBy = $run,
      c.claimedUntil = datetime() + duration({seconds: $seconds})
)
REMOVE c.claiming
RETURN c.id AS id, done, c.claimedBy AS holder

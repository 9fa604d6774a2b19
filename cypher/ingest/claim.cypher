// Passages that a pass is to read: it gets those that no pass which still counts reads. Two passes that ask at the same
// time wait for each other at the first passage that both want.
// mode: write
// param $passages: list<string>: passage ids, sorted
// param $pass: string: who asks
// param $gone: list<string>: passes that are known to be over
// returns: id, done, holder
UNWIND $passages AS id
MATCH (c:Chunk {id: id})
SET c.claiming = true
WITH c, c.state = 'extracted' AS done,
     c.claimedBy IS NULL OR c.claimedBy IN [$pass] + $gone OR NOT EXISTS {
       MATCH (other:WritePass {id: c.claimedBy})
       WHERE other.until > datetime.realtime()
     } AS free
FOREACH (_ IN CASE WHEN free AND NOT done THEN [1] ELSE [] END | SET c.claimedBy = $pass)
REMOVE c.claiming
RETURN c.id AS id, done, c.claimedBy AS holder

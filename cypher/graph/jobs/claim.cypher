// Take the job that waits longest, or whose server is gone, and hold it for a while. Of two servers at once, one waits
// at the gate until the other has taken its job.
// mode: write
// param $place: string: the folder of uploads of the server
// param $lease: string: a token by which nobody else holds it
// param $seconds: float: how long it is held
// param $server: string: who takes it, in words
// returns: id
MERGE (gate:ServerJob {id: 'gate'})
ON CREATE SET gate.state = 'gate', gate.alone = true
SET gate.passed = coalesce(gate.passed, 0) + 1
WITH gate
MATCH (j:ServerJob)
WHERE j.state IN ['waiting', 'running', 'gate']
WITH collect(j) AS jobs, datetime.realtime() AS now
WITH jobs, now, [j IN jobs WHERE j.leaseUntil > now] AS held
UNWIND jobs AS j
WITH j, now, held
WHERE NOT j IN held AND j.state <> 'gate' AND j.place IN ['', $place]
  AND none(other IN held WHERE j.alone AND other.alone)
WITH j.id AS id, now
ORDER BY j.createdAt, id
LIMIT 1
MATCH (taken:ServerJob {id: id})
SET taken.tries = taken.tries + 1
WITH taken, now
WHERE taken.state IN ['waiting', 'running']
SET taken.state = 'running', taken.lease = $lease, taken.server = $server,
    taken.leaseUntil = now + duration({seconds: $seconds}), taken.startedAt = coalesce(taken.startedAt, now)
RETURN taken.id AS id

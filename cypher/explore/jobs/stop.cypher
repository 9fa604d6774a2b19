// Stop a job: at once where nobody runs it, else its server does so.
// mode: write
// param $id: string: the job
// returns: id
MATCH (j:ServerJob {id: $id})
SET j.stopping = true
WITH j
WHERE j.state <> 'gate'
WITH j, j.state = 'waiting' OR (j.state = 'running' AND j.leaseUntil <= datetime.realtime()) AS idle
SET j.state = CASE WHEN idle THEN coalesce(j.outcome, 'stopped') ELSE j.state END,
    j.lease = CASE WHEN idle THEN null ELSE j.lease END
RETURN j.id AS id

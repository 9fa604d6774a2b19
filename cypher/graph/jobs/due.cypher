// Whether a server could take a job now: one that waits, or whose server is gone.
// mode: read
// param $place: string: the folder of uploads of that server
// returns: any
OPTIONAL MATCH (j:ServerJob)
WHERE j.state IN ['waiting', 'running', 'gate']
WITH collect(j) AS jobs, datetime.realtime() AS now
WITH jobs, [j IN jobs WHERE j.leaseUntil > now] AS held
RETURN any(
  j IN jobs
  WHERE NOT j IN held AND j.state <> 'gate' AND j.place IN ['', $place]
    AND none(other IN held WHERE j.alone AND other.alone)
) AS any

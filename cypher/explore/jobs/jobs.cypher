// Jobs, the last first: those with an id, or all. One whose server is gone waits for another.
// mode: read
// param $ids: list<string>: which; none for all
// param $most: int: how many
// returns: id, kind, state, stage, done, total, seconds, files, report, error, place, host, server
MATCH (j:ServerJob)
WHERE j.state <> 'gate' AND ($ids = [] OR j.id IN $ids)
WITH j, datetime.realtime() AS now
ORDER BY j.createdAt DESC, j.id
LIMIT $most
RETURN j.id AS id, j.kind AS kind,
       CASE WHEN j.state = 'running' AND j.leaseUntil <= now THEN 'waiting' ELSE j.state END AS state,
       coalesce(j.stage, '') AS stage, coalesce(j.done, 0) AS done, coalesce(j.total, 0) AS total,
       CASE
         WHEN j.state = 'running' THEN (now.epochMillis - j.startedAt.epochMillis) / 1000.0
         ELSE coalesce(j.seconds, 0.0)
       END AS seconds,
       j.files AS files, coalesce(j.report, '') AS report, coalesce(j.error, '') AS error, j.place AS place,
       j.host AS host, coalesce(j.server, '') AS server

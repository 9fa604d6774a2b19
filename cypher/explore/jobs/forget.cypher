// Forget the jobs that ended longest ago.
// mode: write
// param $kept: int: how many of all jobs are remembered
MATCH (j:ServerJob)
WHERE j.state <> 'gate'
WITH j
ORDER BY j.createdAt DESC, j.id
SKIP $kept
WITH j
WHERE j.state IN ['done', 'failed', 'stopped']
DELETE j

// Take a job that is due, and hold it for a while. Servers pass the gate one after the other: nothing is taken if
// another has passed it since the job was seen to be due.
// mode: write
// param $id: string: the job
// param $passed: int: how often the gate was passed before that
// param $lease: string: a token by which nobody else holds it
// param $seconds: float: how long it is held
// param $server: string: who takes it, in words
// returns: parameters, folder, tries, stopping, outcome
MERGE (gate:ServerJob {id: 'gate'})
SET gate.state = 'gate', gate.alone = true
WITH gate
WHERE coalesce(gate.passed, 0) = $passed
MATCH (j:ServerJob {id: $id})
WHERE j.state IN ['waiting', 'running']
SET gate.passed = $passed + 1, j.tries = j.tries + 1, j.state = 'running', j.lease = $lease, j.server = $server,
    j.leaseUntil = datetime.realtime() + duration({seconds: $seconds}),
    j.startedAt = coalesce(j.startedAt, datetime.realtime())
RETURN j.parameters AS parameters, j.folder AS folder, j.tries AS tries, coalesce(j.stopping, false) AS stopping,
       j.outcome AS outcome

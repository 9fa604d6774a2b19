// Hold the gate, so that no job begins, unless one runs.
// mode: write
// param $lease: string: a token by which nobody else holds it
// param $seconds: float: how long
// returns: id
MERGE (gate:ServerJob {id: 'gate'})
SET gate.state = 'gate', gate.alone = true
WITH gate
OPTIONAL MATCH (j:ServerJob)
WHERE j.state IN ['running', 'gate'] AND j.leaseUntil > datetime.realtime()
WITH gate, count(j) AS held
WHERE held = 0
SET gate.passed = coalesce(gate.passed, 0) + 1, gate.lease = $lease,
    gate.leaseUntil = datetime.realtime() + duration({seconds: $seconds})
RETURN gate.id AS id

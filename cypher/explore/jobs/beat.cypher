// Hold a job, or the gate, for another while, and note how far it has come; no row where somebody else holds it.
// mode: write
// param $id: string: the job
// param $lease: string: the token by which it is held
// param $seconds: float: how long
// param $stage: string: its stage
// param $done: int: how much of that is done
// param $total: int: of how much
// returns: stopping
MATCH (j:ServerJob {id: $id, lease: $lease})
SET j.leaseUntil = datetime.realtime() + duration({seconds: $seconds}), j.stage = $stage, j.done = $done,
    j.total = $total
RETURN coalesce(j.stopping, false) AS stopping

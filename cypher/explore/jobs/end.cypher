// End a job in the state that was noted for it.
// mode: write
// param $id: string: the job
// param $lease: string: the token by which it is held
MATCH (j:ServerJob {id: $id, lease: $lease})
SET j.state = j.outcome, j.seconds = (datetime.realtime().epochMillis - j.startedAt.epochMillis) / 1000.0
REMOVE j.lease, j.leaseUntil

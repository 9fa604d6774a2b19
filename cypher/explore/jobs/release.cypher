// Give a job back, for another server or the next one to take up.
// mode: write
// param $id: string: the job
// param $lease: string: the token by which it is held
MATCH (j:ServerJob {id: $id, lease: $lease})
SET j.state = 'waiting', j.tries = j.tries - 1
REMOVE j.lease, j.leaseUntil

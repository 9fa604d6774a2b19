// Note how a job came out, before what it leaves behind is removed.
// mode: write
// param $id: string: the job
// param $lease: string: the token by which it is held
// param $outcome: string: the state in which it will end
// param $report: string: its report as JSON; empty without one
// param $error: string: its error as JSON; empty without one
// returns: id
MATCH (j:ServerJob {id: $id, lease: $lease})
SET j.outcome = $outcome, j.report = $report, j.error = $error
RETURN j.id AS id

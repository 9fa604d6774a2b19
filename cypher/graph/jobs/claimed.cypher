// What a server needs to run the job that it holds.
// mode: read
// param $id: string: the job
// param $lease: string: the token by which it is held
// returns: parameters, folder, tries, stopping, outcome
MATCH (j:ServerJob {id: $id, lease: $lease})
RETURN j.parameters AS parameters, j.folder AS folder, j.tries AS tries, coalesce(j.stopping, false) AS stopping,
       j.outcome AS outcome

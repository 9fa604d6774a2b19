// How many jobs wait or run, and what those with files in a place keep there.
// mode: read
// param $place: string: a folder of uploads
// returns: jobs, bytes, folders
OPTIONAL MATCH (j:ServerJob)
WHERE j.state IN ['waiting', 'running']
WITH collect(j) AS jobs
WITH jobs, [j IN jobs WHERE j.place = $place AND j.folder <> ''] AS here
RETURN size(jobs) AS jobs, reduce(bytes = 0, j IN here | bytes + j.bytes) AS bytes, [j IN here | j.folder] AS folders

// Queue a job, unless too many wait or run.
// mode: write
// param $most: int: how many may wait or run, this one included
// param $id: string: its id
// param $kind: string: what it does
// param $alone: bool: whether no other job may run beside it
// param $parameters: string: how it does that, as JSON
// param $files: list<string>: the names of its files
// param $bytes: int: their size
// param $place: string: the folder of uploads where they lie; empty without files
// param $folder: string: the folder in it where they were set aside; empty without files
// param $host: string: the machine that took the job
// returns: id
OPTIONAL MATCH (other:ServerJob)
WHERE other.state IN ['waiting', 'running']
WITH count(other) AS others
WHERE others < $most
CREATE (j:ServerJob {id: $id})
SET j.kind = $kind, j.alone = $alone, j.parameters = $parameters, j.files = $files, j.bytes = $bytes,
    j.place = $place, j.folder = $folder, j.host = $host, j.state = 'waiting', j.tries = 0,
    j.createdAt = datetime.realtime()
RETURN j.id AS id

// The job that a server could take now: the first that waits, or whose server is gone, and that may run beside those
// that are held. One that must be alone runs beside no other, and none begins that came after it; of files that have
// the same names the later ones wait. With how often the gate was passed so far, on which that depends.
// mode: read
// param $place: string: the folder of uploads of that server
// returns: id, passed
MATCH (j:ServerJob)
WHERE j.state IN ['waiting', 'running', 'gate']
WITH collect(j) AS jobs
WITH jobs, datetime.realtime() AS now
WITH jobs, [j IN jobs WHERE j.leaseUntil > now] AS held, [j IN jobs WHERE j.state = 'gate' | j.passed][0] AS passed
UNWIND jobs AS j
WITH j, jobs, held, passed
WHERE NOT j IN held AND j.state <> 'gate' AND j.place IN ['', $place]
  AND none(other IN held WHERE j.alone OR other.alone)
  AND none(
    other IN jobs
    WHERE other.state <> 'gate' AND other <> j AND (other IN held OR other.createdAt < j.createdAt)
      AND (other.alone OR (other.place = j.place AND any(name IN j.files WHERE name IN other.files)))
  )
RETURN j.id AS id, coalesce(passed, 0) AS passed
ORDER BY j.createdAt, id
LIMIT 1

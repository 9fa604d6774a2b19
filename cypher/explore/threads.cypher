// Threads, the one that was last asked in first, each with its first question.
// mode: read
// param $limit: int: how many threads
// returns: id, question, turns, at
MATCH (r:Run)
WHERE r.thread IS NOT NULL
WITH r
ORDER BY r.turn, r.at
WITH r.thread AS id, collect(r.asked)[0] AS question, count(r) AS turns, max(r.at) AS last
ORDER BY last DESC, id
LIMIT $limit
RETURN id, question, turns, toString(last) AS at

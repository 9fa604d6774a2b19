// Saved answers with what they rest on; of those to the same question, asked in the same way, the last alone, unless runs
// are named.
// mode: read
// param $runs: list<string>: ids of the runs; none for all
// returns: id, question, reader, answer, model, at, restsOn, foundThen, askedWith
MATCH (r:Run)
WHERE r.restsOn IS NOT NULL AND (size($runs) = 0 OR r.id IN $runs) AND NOT coalesce(r.failed, false)
WITH r
ORDER BY r.at DESC, r.id
WITH r.question AS question, r.reader AS reader, r.askedWith AS asked, collect(r) AS answers
UNWIND CASE WHEN size($runs) = 0 THEN answers[..1] ELSE answers END AS r
RETURN r.id AS id, r.question AS question, r.reader AS reader, r.answer AS answer, r.model AS model,
       toString(r.at) AS at, r.restsOn AS restsOn, r.foundThen AS foundThen, r.askedWith AS askedWith
ORDER BY at DESC, id

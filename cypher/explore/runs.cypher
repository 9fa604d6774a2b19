// Saved runs, the last first.
// mode: read
// param $limit: int: how many runs
// returns: id, question, reader, answer, note, statements, sufficient, failed, at, seconds, calls, input_tokens, output_tokens, steps
MATCH (r:Run)
WITH r
ORDER BY r.at DESC, r.id
LIMIT $limit
RETURN r.id AS id, r.question AS question, r.reader AS reader, r.answer AS answer, r.note AS note,
       coalesce(r.statements, '[]') AS statements, r.sufficient AS sufficient,
       coalesce(r.failed, false) AS failed, toString(r.at) AS at, r.seconds AS seconds, r.calls AS calls,
       r.inputTokens AS input_tokens, r.outputTokens AS output_tokens,
       COUNT { (r)-[:HAS_STEP]->() } AS steps

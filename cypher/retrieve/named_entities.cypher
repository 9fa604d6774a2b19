// Entities that the question names.
// mode: read
// param $names: list<string>: normalised names, the runs of words of the question
// returns: id, key
MATCH (e:Entity)
WHERE e.key IN $names
RETURN e.id AS id, e.key AS key
ORDER BY id

// Which of these passages say what they do by corrections.
// mode: read
// param $ids: list<string>: passage ids
// returns: id
UNWIND $ids AS id
MATCH (c:Chunk {id: id})
WHERE c.uncorrected IS NOT NULL
RETURN id

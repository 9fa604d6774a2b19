// Which of these passages the graph has.
// mode: read
// param $passages: list<string>: passage ids
// returns: id
UNWIND $passages AS id
MATCH (c:Chunk {id: id})
RETURN c.id AS id

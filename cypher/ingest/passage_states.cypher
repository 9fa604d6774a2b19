// What became of passages: extracted or failed, with the counts that the report adds up.
// mode: write
// param $rows: list<map>: id, state: properties
UNWIND $rows AS row
MATCH (c:Chunk {id: row.id})
SET c += row.state

// Why pages have no gist.
// mode: write
// param $rows: list<map>: id, failure
UNWIND $rows AS row
MATCH (p:Page {id: row.id})
SET p.failure = row.failure

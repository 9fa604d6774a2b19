// Stems of key elements that were written before there were any.
// mode: write
// param $rows: list<map>: id, stem
UNWIND $rows AS row
MATCH (k:KeyElement {id: row.id})
SET k.stem = row.stem

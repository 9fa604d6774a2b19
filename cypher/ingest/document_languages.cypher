// The languages of documents of an earlier version's graph.
// mode: write
// param $rows: list<map>: id, language
UNWIND $rows AS row
MATCH (d:Document {id: row.id})
SET d.language = row.language

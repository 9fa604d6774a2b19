// Names and summaries of communities, by a language model or from their members; their vectors are due again.
// mode: write
// param $rows: list<map>: id, name, summary, by
UNWIND $rows AS row
MATCH (c:Community {id: row.id})
SET c:Pending,
    c.name = row.name,
    c.nameBy = row.by,
    c.summary = row.summary,
    c.summaryBy = row.by
REMOVE c.nameDue

// Key elements that are forms of one thing point at the one that most passages mention; they are never merged.
// mode: write
// param $rows: list<map>: id, target, by, score
UNWIND $rows AS row
MATCH (k:KeyElement {id: row.id})
MATCH (representative:KeyElement {id: row.target})
MERGE (k)-[form:FORM_OF]->(representative)
SET form.by = row.by,
    form.score = row.score

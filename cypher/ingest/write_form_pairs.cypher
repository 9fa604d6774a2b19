// Key elements, at most one of them an entity, that mean nearly the same.
// mode: write
// param $rows: list<map>: one, other, score
UNWIND $rows AS row
MATCH (one:KeyElement {id: row.one})
MATCH (other:KeyElement {id: row.other})
MERGE (one)-[likeness:SAME_AS]->(other)
SET likeness.by = 'meaning',
    likeness.score = row.score

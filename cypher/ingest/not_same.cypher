// Entities that no passage says are one any more.
// mode: write
// param $rows: list<map>: one, other: entity ids
UNWIND $rows AS row
MATCH (:Entity {id: row.one})-[likeness:SAME_AS]->(:Entity {id: row.other})
DELETE likeness

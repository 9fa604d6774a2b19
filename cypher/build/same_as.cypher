// Entities that are likely the same thing; never merged.
// mode: write
// param $rows: list<map>: one, other, score
UNWIND $rows AS row
MATCH (one:Entity {id: row.one})
MATCH (other:Entity {id: row.other})
MERGE (one)-[likeness:SAME_AS]->(other)
SET likeness.score = row.score

// Entities that a passage says are one, whatever their vectors: why, and by which characters of its document.
// mode: write
// param $rows: list<map>: one, other, said: by, passage, start, end; null: only the score is new
UNWIND $rows AS row
MATCH (one:Entity {id: row.one})
MATCH (other:Entity {id: row.other})
FOREACH (_ IN CASE WHEN row.said IS NULL THEN [] ELSE [1] END | MERGE (one)-[:SAME_AS]->(other))
WITH row, one, other
MATCH (one)-[likeness:SAME_AS]->(other)
SET likeness += coalesce(row.said, {}),
    likeness.score = coalesce(round(2 * vector.similarity.cosine(one.embedding, other.embedding) - 1, 4), 0.0)

// Of entities with like names, join those whose vectors are alike too; they are never merged. Those that a passage says
// are one stay joined for that.
// mode: write
// param $rows: list<map>: one, other: entity ids
// param $threshold: float: least cosine
UNWIND $rows AS row
MATCH (one:Entity {id: row.one})
MATCH (other:Entity {id: row.other})
WITH one, other, 2 * vector.similarity.cosine(one.embedding, other.embedding) - 1 AS score
WHERE score >= $threshold
MERGE (one)-[likeness:SAME_AS]->(other)
ON CREATE SET likeness.by = 'name'
SET likeness.score = round(score, 4)

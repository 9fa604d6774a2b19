// Which corrections apply to which passages, in place of what was so before.
// mode: write
// param $rows: list<map>: passage, corrections
UNWIND $rows AS row
MATCH (c:Chunk {id: row.passage})
FOREACH (old IN COLLECT { MATCH (:Correction)-[r:CORRECTS]->(c) RETURN r } | DELETE old)
WITH c, row
UNWIND row.corrections AS id
MATCH (x:Correction {id: id})
CREATE (x)-[:CORRECTS]->(c)

// Passages that were written as they say it, and those of them that may have to be corrected: so do those that were.
// mode: write
// param $passages: list<string>: passage ids
// param $due: list<string>: ids of some of them
UNWIND $passages AS id
MATCH (c:Chunk {id: id})
REMOVE c.uncorrected
WITH c, COLLECT { MATCH (:Correction)-[r:CORRECTS]->(c) RETURN r } AS before
FOREACH (_ IN CASE WHEN c.id IN $due OR size(before) > 0 THEN [1] ELSE [] END | SET c:CorrectDue)
FOREACH (r IN before | DELETE r)

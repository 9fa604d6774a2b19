// The last saved run
// Its steps in order, the best three facts and passages that each found, and the passages that the answer cites.
MATCH (r:Run)
ORDER BY r.at DESC, r.id
LIMIT 1
MATCH step = (r)-[:HAS_STEP]->(s:Step)
RETURN step, [path = (s)-[found:FOUND]->() WHERE found.rank <= 3 | path] AS found,
       [path = (r)-[:CITES]->() | path] AS cited
ORDER BY s.index

// A saved run: its steps in order, the best three things that each found, and the passages that the answer cites.
// mode: read
// param $id: string: the run
// returns: step, found, cited
MATCH step = (r:Run {id: $id})-[:HAS_STEP]->(s:Step)
RETURN step, [path = (s)-[found:FOUND]->() WHERE found.rank <= 3 | path] AS found,
       [path = (r)-[:CITES]->() | path] AS cited
ORDER BY s.index

// A saved run as a graph: its steps, the key elements that each was at, the best three facts and passages of each, and
// the passages that the answer cites.
// mode: read
// param $run: string: the run's id
// returns: step, at, found, cited
MATCH step = (r:Run {id: $run})-[:HAS_STEP]->(s:Step)
RETURN step, [path = (s)-[:AT]->() | path] AS at, [path = (s)-[found:FOUND]->() WHERE found.rank <= 3 | path] AS found,
       [path = (r)-[:CITES]->() | path] AS cited
ORDER BY s.index

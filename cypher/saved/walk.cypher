// A reader's walk over the graph
// The last saved run of the reader graphreader: the steps of each of its paths in order, the key elements that each
// step was at, and the passages that it read in full. Older runs spell the prompt with an underscore.
MATCH (r:Run)
WHERE EXISTS { (r)-[:HAS_STEP]->(:Step)-[:AT]->(:KeyElement) }
ORDER BY r.at DESC, r.id
LIMIT 1
MATCH step = (r)-[:HAS_STEP]->(s:Step)
WHERE s.path > 0
RETURN step, [next = (s)-[:NEXT_STEP]->(:Step) | next] AS next, [at = (s)-[:AT]->(:KeyElement) | at] AS at,
       [read = (s)-[:FOUND]->(:Chunk) WHERE s.prompt IN ['graphreader/chunk', 'graphreader_chunk'] | read] AS read
ORDER BY s.index

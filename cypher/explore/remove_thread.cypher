// Remove a thread: its runs, and their steps.
// mode: write
// param $id: string: the thread's id
MATCH (r:Run {thread: $id})
OPTIONAL MATCH (r)-[:HAS_STEP]->(s:Step)
DETACH DELETE s, r

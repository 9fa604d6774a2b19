// Make a saved run the next turn of a thread: what was asked in the thread's words, behind the run before it.
// mode: write
// param $run: string: the run's id
// param $thread: string: the thread's id
// param $asked: string: the question as it was put, of which the run's question was made
// param $failed: bool: whether the model failed, so that there is no answer
MATCH (r:Run {id: $run})
OPTIONAL MATCH (earlier:Run {thread: $thread})
WITH r, earlier
ORDER BY earlier.turn DESC
WITH r, collect(earlier) AS earlier
SET r.thread = $thread, r.asked = $asked, r.failed = $failed, r.turn = coalesce(earlier[0].turn, 0) + 1
WITH r, head(earlier) AS last
WHERE last IS NOT NULL
CREATE (r)-[:FOLLOWS]->(last)

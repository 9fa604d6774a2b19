// Keep the steps of a run, in order: each after the one before it, the first of each path after what led to all paths,
// and what follows the paths after the last of each.
// mode: write
// param $run: string: the run's id
// param $rows: list<map>: id, before, index, path, name, detail, prompt, reply, seconds, calls, inputTokens, outputTokens, statements
MATCH (r:Run {id: $run})
UNWIND $rows AS row
CREATE (r)-[:HAS_STEP]->(s:Step {id: row.id})
SET s.index = row.index, s.path = row.path, s.name = row.name, s.detail = row.detail, s.prompt = row.prompt,
    s.reply = row.reply, s.seconds = row.seconds, s.calls = row.calls, s.inputTokens = row.inputTokens,
    s.outputTokens = row.outputTokens, s.statements = row.statements
WITH s, row
UNWIND row.before AS id
MATCH (before:Step {id: id})
CREATE (before)-[:NEXT_STEP]->(s)

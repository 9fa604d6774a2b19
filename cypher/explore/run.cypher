// A saved run with its steps in order, each with the ids of what it found, best first, and of what it was at.
// mode: read
// param $id: string: the run's id
// returns: run, steps
MATCH (r:Run {id: $id})
RETURN {
         id: r.id, question: r.question, reader: r.reader, answer: r.answer, note: r.note,
         statements: coalesce(r.statements, '[]'), sufficient: r.sufficient,
         failed: coalesce(r.failed, false), at: toString(r.at), seconds: r.seconds, calls: r.calls,
         input_tokens: r.inputTokens, output_tokens: r.outputTokens, steps: COUNT { (r)-[:HAS_STEP]->() }
       } AS run,
       COLLECT {
         MATCH (r)-[:HAS_STEP]->(s:Step)
         RETURN {
           number: s.index, path: s.path, name: s.name, detail: s.detail, prompt: s.prompt, reply: s.reply,
           seconds: s.seconds, statements: s.statements,
           facts: COLLECT { MATCH (s)-[found:FOUND]->(f:Fact) RETURN f.id ORDER BY found.rank },
           passages: COLLECT { MATCH (s)-[found:FOUND]->(c:Chunk) RETURN c.id ORDER BY found.rank },
           elements: COLLECT { MATCH (s)-[:AT]->(k:KeyElement) RETURN k.id ORDER BY k.id },
           pages: COLLECT { MATCH (s)-[found:FOUND]->(p:Page) RETURN p.id ORDER BY found.rank }
         }
         ORDER BY s.index
       } AS steps

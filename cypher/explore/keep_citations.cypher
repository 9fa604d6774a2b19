// Tie a run to the passages that its answer cites, with the characters of the document of each sentence, and its words.
// mode: write
// param $run: string: the run's id
// param $rows: list<map>: number, passage, start, end, found, text
MATCH (r:Run {id: $run})
UNWIND $rows AS row
MATCH (c:Chunk {id: row.passage})
CREATE (r)-[:CITES {number: row.number, start: row.start, end: row.end, found: row.found, text: row.text}]->(c)

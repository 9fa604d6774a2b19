// Atomic facts with their key elements (GraphReader, section 3.2), and the words that state them. They get no vector:
// as seeds of a search they add nothing to passages (docs/explanation/retrieval.md), and they are five times as many.
// mode: write
// param $rows: list<map>: id, name, text, elements, passage, start, end, found, since, until, granularity, timeStart, timeEnd
UNWIND $rows AS row
MATCH (c:Chunk {id: row.passage})
MERGE (f:Fact {id: row.id})
ON CREATE SET f.kind = 'atomic',
              f.name = row.name,
              f.text = row.text
MERGE (f)-[evidence:FROM_CHUNK]->(c)
SET evidence.start = row.start,
    evidence.end = row.end,
    evidence.found = row.found,
    evidence.since = row.since,
    evidence.until = row.until,
    evidence.granularity = row.granularity,
    evidence.timeStart = row.timeStart,
    evidence.timeEnd = row.timeEnd
WITH f, row
UNWIND row.elements AS element
MATCH (k:KeyElement {id: element})
MERGE (f)-[:MENTIONS]->(k)

// Facts that give an entity a value, with the words that state them.
// mode: write
// param $rows: list<map>: id, name, text, subject, predicate, object, inSchema, subjectId, attributeId, attributeName, key, value, passage, start, end, found, since, until, granularity, timeStart, timeEnd
UNWIND $rows AS row
MATCH (s:Entity {id: row.subjectId})
MATCH (c:Chunk {id: row.passage})
MERGE (f:Fact {id: row.id})
ON CREATE SET f.kind = 'attribute',
              f.name = row.name,
              f.text = row.text,
              f.subject = row.subject,
              f.predicate = row.predicate,
              f.object = row.object,
              f.inSchema = row.inSchema,
              f:Pending
MERGE (a:Attribute {id: row.attributeId})
ON CREATE SET a.name = row.attributeName,
              a.key = row.key,
              a.value = row.value
MERGE (f)-[:SUBJECT]->(s)
MERGE (f)-[:VALUE]->(a)
MERGE (s)-[:HAS_ATTRIBUTE]->(a)
MERGE (f)-[evidence:FROM_CHUNK]->(c)
SET evidence.start = row.start,
    evidence.end = row.end,
    evidence.found = row.found,
    evidence.since = row.since,
    evidence.until = row.until,
    evidence.granularity = row.granularity,
    evidence.timeStart = row.timeStart,
    evidence.timeEnd = row.timeEnd

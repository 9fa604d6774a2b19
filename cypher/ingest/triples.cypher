// Facts that join two entities, the words that state them, and the relation that they amount to.
// mode: write
// param $rows: list<map>: id, name, text, subject, predicate, object, inSchema, subjectId, objectId, type, passage, start, end, found, since, until, granularity, timeStart, timeEnd
UNWIND $rows AS row
MATCH (s:Entity {id: row.subjectId})
MATCH (o:Entity {id: row.objectId})
MATCH (c:Chunk {id: row.passage})
MERGE (f:Fact {id: row.id})
ON CREATE SET f.kind = 'triple',
              f.name = row.name,
              f.text = row.text,
              f.subject = row.subject,
              f.predicate = row.predicate,
              f.object = row.object,
              f.inSchema = row.inSchema,
              f:Pending
MERGE (f)-[:SUBJECT]->(s)
MERGE (f)-[:OBJECT]->(o)
MERGE (f)-[evidence:FROM_CHUNK]->(c)
SET evidence.start = row.start,
    evidence.end = row.end,
    evidence.found = row.found,
    evidence.since = row.since,
    evidence.until = row.until,
    evidence.granularity = row.granularity,
    evidence.timeStart = row.timeStart,
    evidence.timeEnd = row.timeEnd
MERGE (s)-[relation:$(row.type) {fact: row.id}]->(o)
SET relation.predicate = row.predicate,
    relation.weight = COUNT { (f)-[:FROM_CHUNK]->(:Chunk) }

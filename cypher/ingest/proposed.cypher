// What passages proposed for the schema: a node for each type, by its kind and the letters of its name.
// mode: write
// param $rows: list<map>: id, kind, name, passage, words, confidence, example
UNWIND $rows AS row
MATCH (c:Chunk {id: row.passage})
MERGE (t:ProposedType {id: row.id})
ON CREATE SET t.kind = row.kind, t.name = row.name
MERGE (c)-[p:PROPOSED {words: row.words}]->(t)
SET p.confidence = row.confidence, p.example = row.example

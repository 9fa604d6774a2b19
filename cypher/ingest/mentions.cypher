// Which passage names which entity or key element, how often, and in which forms.
// mode: write
// param $rows: list<map>: element, passage, count, names
UNWIND $rows AS row
MATCH (k:KeyElement {id: row.element})
MATCH (c:Chunk {id: row.passage})
MERGE (k)-[mention:FROM_CHUNK]->(c)
SET mention.count = row.count,
    mention.names = row.names

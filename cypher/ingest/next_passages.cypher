// The reading order of passages.
// mode: write
// param $rows: list<map>: id, next: passage ids
UNWIND $rows AS row
MATCH (c:Chunk {id: row.id})
MATCH (next:Chunk {id: row.next})
MERGE (c)-[:NEXT_CHUNK]->(next)

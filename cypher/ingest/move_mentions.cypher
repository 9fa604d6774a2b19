// The atomic facts of a passage mention an entity as it is called now that the passage is bounded again.
// mode: write
// param $rows: list<map>: passage, old, new
UNWIND $rows AS row
MATCH (new:Entity {id: row.new})
MATCH (:Chunk {id: row.passage})<-[:FROM_CHUNK]-(f:Fact)-[mention:MENTIONS]->(:Entity {id: row.old})
DELETE mention
MERGE (f)-[:MENTIONS]->(new)

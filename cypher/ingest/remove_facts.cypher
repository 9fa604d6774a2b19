// Take away what these passages state: their evidence, then facts that nothing states any more, with the relations
// and attributes that came from them.
// mode: write
// param $rows: list<map>: passage, gone: ids of the facts that it states no more; null: all
UNWIND $rows AS row
MATCH (:Chunk {id: row.passage})<-[evidence:FROM_CHUNK]-(f:Fact)
WHERE row.gone IS NULL OR f.id IN row.gone
DELETE evidence
WITH DISTINCT f
CALL (f) {
  OPTIONAL MATCH (f)-[:SUBJECT]->(s:Entity)
  OPTIONAL MATCH (f)-[:OBJECT]->(o:Entity)
  OPTIONAL MATCH (s)-[relation {fact: f.id}]->(o)
  SET relation.weight = COUNT { (f)-[:FROM_CHUNK]->(:Chunk) }
}
WITH f
WHERE NOT EXISTS { (f)-[:FROM_CHUNK]->(:Chunk) }
OPTIONAL MATCH (f)-[:SUBJECT]->(s:Entity)
OPTIONAL MATCH (f)-[:OBJECT]->(o:Entity)
OPTIONAL MATCH (s)-[relation {fact: f.id}]->(o)
OPTIONAL MATCH (f)-[:VALUE]->(a:Attribute)
DELETE relation
DETACH DELETE f
WITH DISTINCT a
WHERE a IS NOT NULL AND NOT EXISTS { (:Fact)-[:VALUE]->(a) }
DETACH DELETE a

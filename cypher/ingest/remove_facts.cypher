// Take away what these passages state: their evidence, then facts that nothing states any more, with the relations
// and attributes that came from them.
// mode: write
// param $passages: list<string>: passage ids
// param $kept: list<string>: of one that is bounded again, its triples and attributes, beside atomic facts; null: none
UNWIND $passages AS id
MATCH (:Chunk {id: id})<-[evidence:FROM_CHUNK]-(f:Fact)
WHERE $kept IS NULL OR (f.kind <> 'atomic' AND NOT f.id IN $kept)
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

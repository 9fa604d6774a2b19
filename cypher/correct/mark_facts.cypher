// A mark on the passages that state something of an entity by a predicate.
// mode: write
// param $subject: string: entity id
// param $predicate: string: of a triple or an attribute
MATCH (:Entity {id: $subject})<-[:SUBJECT]-(f:Fact)-[:FROM_CHUNK]->(c:Chunk)
WHERE f.predicate = $predicate
SET c:CorrectDue

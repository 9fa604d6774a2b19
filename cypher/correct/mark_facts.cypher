// A mark on the passages that state a fact: in these words, or of this entity by this predicate.
// mode: write
// param $text: string: of an atomic fact; null for others
// param $subject: string: entity id; null for an atomic fact
// param $predicate: string: of a triple or an attribute; null for an atomic fact
CALL () {
  MATCH (f:Fact)
  WHERE $text IS NOT NULL AND f.text = $text
  RETURN f
UNION
  MATCH (:Entity {id: $subject})<-[:SUBJECT]-(f:Fact)
  WHERE f.predicate = $predicate
  RETURN f
}
MATCH (f)-[:FROM_CHUNK]->(c:Chunk)
SET c.correctDue = true

// Facts that give an entity a value of what it has one of at a time: those of these ids, and those that the spans state.
// mode: read
// param $ids: list<string>: fact ids
// param $spans: list<map>: passage, start, end: characters of the passage's document
// param $relations: list<string>: relations that have one object at a time
// param $attributes: list<string>: attributes that have one value at a time
// returns: id, subject
CALL () {
  UNWIND $ids AS id
  MATCH (f:Fact {id: id})
  RETURN f
  UNION
  UNWIND $spans AS span
  MATCH (:Chunk {id: span.passage})<-[at:FROM_CHUNK {found: true}]-(f:Fact)
  WHERE at.start < span.end AND at.end > span.start
  RETURN f
}
WITH f
WHERE f.inSchema AND f.predicate IN CASE f.kind WHEN 'triple' THEN $relations ELSE $attributes END
MATCH (f)-[:SUBJECT]->(s:Entity)
RETURN f.id AS id, s.id AS subject
ORDER BY id

// Take a correction away, with a mark on its passages, and on the entities that it was about.
// mode: write
// param $id: string: its id
// param $entities: list<string>: entity ids
CALL () {
  MATCH (x:Correction {id: $id})
  FOREACH (c IN COLLECT { MATCH (x)-[:CORRECTS]->(c:Chunk) RETURN c } | SET c:CorrectDue)
  DETACH DELETE x
}
UNWIND $entities AS id
MATCH (e:Entity {id: id})
SET e:Pending,
    e.joinDue = true

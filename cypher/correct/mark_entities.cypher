// A mark on the passages that name entities, and on these, whose names and likenesses may change.
// mode: write
// param $entities: list<string>: entity ids
// param $different: bool: whether these are two that are not one
UNWIND $entities AS id
MATCH (e:Entity {id: id})
SET e:Pending,
    e.joinDue = true
FOREACH (r IN COLLECT { MATCH (e)-[r:SAME_AS]-(o:Entity) WHERE $different AND o.id IN $entities RETURN r } | DELETE r)
WITH e
MATCH (e)-[:FROM_CHUNK]->(c:Chunk)
SET c:CorrectDue

// A correction, with a mark on the passages that name the entities which it is about, and on these entities.
// mode: write
// param $id: string: its id
// param $properties: map: its other properties
// param $entities: list<string>: entity ids
// param $different: bool: whether it says that these are two
MATCH (g:Graph {id: 'graph'})
SET g.correctDue = true
MERGE (x:Correction {id: $id})
SET x += $properties
WITH x
UNWIND $entities AS id
MATCH (e:Entity {id: id})
SET e:Pending,
    e.joinDue = true
FOREACH (r IN COLLECT { MATCH (e)-[r:SAME_AS]-(o:Entity) WHERE $different AND o.id IN $entities RETURN r } | DELETE r)
WITH e
MATCH (e)-[:FROM_CHUNK]->(c:Chunk)
SET c.correctDue = true

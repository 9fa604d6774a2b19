// Take a correction away, with a mark on its passages, and on the entities that it was about.
// mode: write
// param $id: string: its id
// param $entities: list<string>: entity ids
MATCH (g:Graph {id: 'graph'})
SET g.correctDue = true
WITH g
MATCH (x:Correction {id: $id})
FOREACH (c IN COLLECT { MATCH (x)-[:CORRECTS]->(c:Chunk) RETURN c } | SET c.correctDue = true)
DETACH DELETE x
WITH g
UNWIND $entities AS id
MATCH (e:Entity {id: id})
SET e:Pending,
    e.joinDue = true

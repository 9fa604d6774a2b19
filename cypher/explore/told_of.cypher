// All that is stated of some entities in the schema's words, and where: what tells whether texts speak of one thing.
// mode: read
// param $entities: list<string>: entity ids
// param $most: int: how many statements of an entity are read, each in one place
// returns: id, key, type, said
UNWIND $entities AS id
MATCH (s:Entity {id: id})
RETURN id, s.key AS key, s.type AS type, COLLECT {
         MATCH (s)<-[:SUBJECT]-(f:Fact)-[at:FROM_CHUNK {found: true}]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
         WHERE f.inSchema
         RETURN [f.id, f.kind, f.predicate, f.object, d.id, c.id, at.start, at.end]
         ORDER BY f.id, c.id
         LIMIT $most
       } AS said

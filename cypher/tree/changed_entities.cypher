// These entities, each with its leaf in the tree, and with what facts say of it: as their subject, the predicate and
// the other entity, which is null where the fact gives a value; as their object, the predicate and the subject.
// mode: read
// param $ids: list<string>: entity ids
// returns: id, name, type, vector, community, score, signature, said, heard
UNWIND $ids AS id
MATCH (e:Entity {id: id})
OPTIONAL MATCH (e)-[member:MEMBER_OF]->(c:Community)
RETURN e.id AS id, e.name AS name, e.type AS type, e.embedding AS vector, c.id AS community, member.score AS score,
       member.signature AS signature,
       COLLECT {
         MATCH (f:Fact)-[:SUBJECT]->(e)
         OPTIONAL MATCH (f)-[:OBJECT]->(o:Entity)
         RETURN [f.predicate, o.id]
       } AS said,
       COLLECT {
         MATCH (f:Fact)-[:OBJECT]->(e)
         MATCH (f)-[:SUBJECT]->(s:Entity)
         RETURN [f.predicate, s.id]
       } AS heard

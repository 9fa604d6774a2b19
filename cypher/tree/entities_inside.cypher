// The entities in these communities and in all communities inside them, as `changed_entities` gives them.
// mode: read
// param $tops: list<string>: community ids
// returns: id, name, type, vector, community, score, signature, said, heard
UNWIND $tops AS top
MATCH (:Community {id: top})<-[:PARENT*0..]-(c:Community)<-[member:MEMBER_OF]-(e:Entity)
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

// A page of entities, in the order of their ids, each with its vector and with what facts say of it as their subject:
// the predicate, and the other entity, which is null where the fact gives a value.
// mode: read
// param $after: string: the last id of the page before
// param $limit: int: how many entities
// returns: id, name, type, vector, facts
MATCH (e:Entity)
WHERE e.id > $after
WITH e
ORDER BY e.id
LIMIT $limit
RETURN e.id AS id, e.name AS name, e.type AS type, e.embedding AS vector,
       COLLECT {
         MATCH (f:Fact)-[:SUBJECT]->(e)
         OPTIONAL MATCH (f)-[:OBJECT]->(o:Entity)
         RETURN [f.predicate, o.id]
       } AS facts

// What facts are about, by types: the predicate of each, and the types of its entities. Null stands for what no schema
// has: an entity of no type, or a predicate or type that only the text has.
// mode: read
// param $ids: list<string>: fact ids
// returns: id, kind, predicate, types
UNWIND $ids AS id
MATCH (f:Fact {id: id})
RETURN id, f.kind AS kind, CASE WHEN f.inSchema THEN f.predicate END AS predicate,
       COLLECT {
         MATCH (f)-[:SUBJECT|OBJECT]->(e:Entity)
         RETURN CASE WHEN e.inSchema THEN e.type END
       } AS types

// A fact by its id, as a correction names it.
// mode: read
// param $fact: string: the id
// returns: kind, text, predicate, value, subject, object
MATCH (f:Fact {id: $fact})
RETURN f.kind AS kind, f.text AS text, f.predicate AS predicate, f.object AS value,
       [(f)-[:SUBJECT]->(s:Entity) | [s.key, s.type]][0] AS subject,
       [(f)-[:OBJECT]->(o:Entity) | [o.key, o.type]][0] AS object

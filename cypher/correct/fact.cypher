// A fact by its id, or by its words, as a correction names it.
// mode: read
// param $fact: string: the id
// param $text: string: its words
// returns: kind, text, predicate, value, subject, object
CALL () {
  MATCH (f:Fact {id: $fact})
  RETURN f
UNION
  MATCH (f:Fact {text: $text})
  RETURN f
}
RETURN f.kind AS kind, f.text AS text, f.predicate AS predicate, f.object AS value,
       [(f)-[:SUBJECT]->(s:Entity) | [s.key, s.type]][0] AS subject,
       [(f)-[:OBJECT]->(o:Entity) | [o.key, o.type]][0] AS object
ORDER BY kind DESC, f.id
LIMIT 1

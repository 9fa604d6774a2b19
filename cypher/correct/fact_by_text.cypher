// A fact by its words, as a correction names it; a triple before a sentence. All facts are looked at.
// mode: read
// param $text: string: its words
// returns: kind, text, predicate, value, subject, object
MATCH (f:Fact {text: $text})
WITH f
ORDER BY f.kind DESC, f.id
LIMIT 1
RETURN f.kind AS kind, f.text AS text, f.predicate AS predicate, f.object AS value,
       [(f)-[:SUBJECT]->(s:Entity) | [s.key, s.type]][0] AS subject,
       [(f)-[:OBJECT]->(o:Entity) | [o.key, o.type]][0] AS object

// Facts that join two entities, with the first document that states each.
// mode: read
// returns: subject, predicate, object, text, document
MATCH (s:Entity)<-[:SUBJECT]-(f:Fact)-[:OBJECT]->(o:Entity)
RETURN s.name AS subject, f.predicate AS predicate, o.name AS object, f.text AS text,
       COLLECT {
         MATCH (f)-[place:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
         RETURN d.name AS name
         ORDER BY d.uri, place.start
         LIMIT 1
       }[0] AS document
ORDER BY f.id

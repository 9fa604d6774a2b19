// All passages, of an earlier version's graph, with the entities that they name; of a document's first one also the
// document.
// mode: read
// returns: id, text, document, passage, entities
MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
RETURN c.id AS id, d.name + '\n' + c.text AS text, CASE c.index WHEN 0 THEN d.id END AS document,
       c {.text, .start} AS passage,
       COLLECT {
         MATCH (e:Entity)-[mention:FROM_CHUNK]->(c)
         RETURN e {.id, .type, name: coalesce(mention.names[0], e.name)}
       } AS entities

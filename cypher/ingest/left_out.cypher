// Some passages that keep what was outside the schema, and were bounded by another schema than what their seed is now.
// mode: read
// param $seed: string: the id of the schema that they began with
// param $schema: string: the id of a schema
// param $limit: int: how many
// returns: passage, document, title, leftOut, notKept, counts, entities, properties
MATCH (c:Chunk)
WHERE c.seed = $seed AND (c.boundBy < $schema OR c.boundBy > $schema)
WITH c
LIMIT $limit
MATCH (c)-[:FROM_DOCUMENT]->(d:Document)
RETURN c {.id, .name, .text, .index, .start, .end, .page, .tokens} AS passage, d.id AS document, d.name AS title,
       c.leftOut AS leftOut, coalesce(c.notKept, '{}') AS notKept,
       c {.kept, .mapped, .dropped, .offSchema, .turned} AS counts,
       COLLECT {
         MATCH (e:Entity)-[:FROM_CHUNK]->(c)
         RETURN e {.id, .key, inFacts: EXISTS { (e)<-[:MENTIONS]-(:Fact)-[:FROM_CHUNK]->(c) }}
       } AS entities,
       [key IN keys(d) WHERE key STARTS WITH 'meta_' | [key, d[key]]] AS properties

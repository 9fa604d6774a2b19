// Passages to read facts from, with what was extracted from them before.
// mode: read
// param $ids: list<string>: passage ids
// returns: passage, malformedKinds, malformedCounts, unnamed, notKept, document, title, mentions, properties
UNWIND $ids AS id
MATCH (c:Chunk {id: id})-[:FROM_DOCUMENT]->(d:Document)
RETURN c {.id, .name, .text, .index, .start, .end, .page, .tokens} AS passage,
       coalesce(c.malformedKinds, []) AS malformedKinds, coalesce(c.malformedCounts, []) AS malformedCounts,
       coalesce(c.unnamed, 0) AS unnamed, coalesce(c.notKept, '') AS notKept, d.id AS document, d.name AS title,
       COLLECT {
         MATCH (c)<-[mention:FROM_CHUNK]-(e:Entity)
         RETURN {id: e.id, key: e.key, count: mention.count, names: mention.names}
       } AS mentions,
       [key IN keys(d) WHERE key STARTS WITH 'meta_' | [key, d[key]]] AS properties

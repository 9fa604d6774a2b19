// All that passages say, as the rows that write it have it, and what they said before corrections.
// mode: read
// param $ids: list<string>: passage ids
// returns: passage, document, title, properties, uncorrected, alike, elements, triples, attributes, atomic_facts
UNWIND $ids AS id
MATCH (c:Chunk {id: id})-[:FROM_DOCUMENT]->(d:Document)
RETURN c {.id, .name, .text, .index, .start, .end, .page, .tokens} AS passage, d.id AS document, d.name AS title,
       [key IN keys(d) WHERE key STARTS WITH 'meta_' | [key, d[key]]] AS properties, c.uncorrected AS uncorrected,
       c.alike AS alike,
       COLLECT {
         MATCH (c)<-[mention:FROM_CHUNK]-(k:KeyElement)
         RETURN k {
           .id, .key, .type, .inSchema, isEntity: k:Entity, count: mention.count, names: mention.names
         }
       } AS elements,
       COLLECT {
         MATCH (c)<-[at:FROM_CHUNK]-(f:Fact {kind: 'triple'})-[:SUBJECT]->(s:Entity)
         MATCH (f)-[:OBJECT]->(o:Entity)
         MATCH (s)-[r {fact: f.id}]->(o)
         RETURN f {
           .id, .name, .text, .subject, .predicate, .object, .inSchema, subjectId: s.id, objectId: o.id, type: type(r),
           at: properties(at)
         }
       } AS triples,
       COLLECT {
         MATCH (c)<-[at:FROM_CHUNK]-(f:Fact {kind: 'attribute'})-[:SUBJECT]->(s:Entity)
         MATCH (f)-[:VALUE]->(a:Attribute)
         RETURN f {
           .id, .name, .text, .subject, .predicate, .object, .inSchema, subjectId: s.id, attributeId: a.id,
           attributeName: a.name, key: a.key, value: a.value, at: properties(at)
         }
       } AS attributes,
       COLLECT {
         MATCH (c)<-[at:FROM_CHUNK]-(f:Fact {kind: 'atomic'})
         RETURN f {.id, .name, .text, elements: COLLECT { MATCH (f)-[:MENTIONS]->(k:KeyElement) RETURN k.id }, at: properties(at)}
       } AS atomic_facts

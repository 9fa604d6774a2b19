// Passages in the order of their ids, with what each says: entities, triples, attributes and atomic facts.
// mode: read
// param $after: string: the last id of the page before
// param $documents: list<string>: ids of documents; all if there are none
// param $limit: int: how many passages
// returns: id, text, index, start, end, page, location, document, title, uri, entities, triples, attributes, facts
MATCH (c:Chunk)
WHERE c.id > $after
MATCH (c)-[:FROM_DOCUMENT]->(d:Document)
WHERE size($documents) = 0 OR d.id IN $documents
WITH c, d
ORDER BY c.id
LIMIT $limit
RETURN c.id AS id, c.text AS text, c.index AS index, c.start AS start, c.end AS end, c.page AS page,
       c.location AS location, d.id AS document, d.name AS title, d.uri AS uri,
       [(c)<-[:FROM_CHUNK]-(e:Entity) | {id: e.id, name: e.name, type: e.type, aliases: e.aliases}] AS entities,
       [(c)<-[at:FROM_CHUNK]-(f:Fact {kind: 'triple'}) | {
         id: f.id, predicate: f.predicate, inSchema: f.inSchema, start: at.start, end: at.end, found: at.found,
         subject: [(f)-[:SUBJECT]->(s:Entity) | s.id][0], object: [(f)-[:OBJECT]->(o:Entity) | o.id][0]
       }] AS triples,
       [(c)<-[at:FROM_CHUNK]-(f:Fact {kind: 'attribute'}) | {
         id: f.id, key: f.predicate, value: f.object, start: at.start, end: at.end, found: at.found,
         subject: [(f)-[:SUBJECT]->(s:Entity) | s.id][0]
       }] AS attributes,
       [(c)<-[at:FROM_CHUNK]-(f:Fact {kind: 'atomic'}) | {
         id: f.id, text: f.text, start: at.start, end: at.end, found: at.found,
         elements: [(f)-[:MENTIONS]->(k:KeyElement) | k.name]
       }] AS facts

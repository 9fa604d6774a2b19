// The facts of a node, by the passage that states them: its atomic facts, and where a passage has none about it, its
// triples and attributes. Of a node of many passages those nearest to the question; all in reading order.
// mode: read
// param $node: string: the node's name
// param $vector: list<float>: the question's vector
// param $count: int: how many passages
// param $documents: list<string>: ids of the documents that state them; null: all
// param $asOf: list<string>: the first day of a time, and the day after its last; what is said of other times stays out
// returns: passages, facts, elements, passage, stated, nearness
MATCH (n:KeyElement {name: $node})
WHERE NOT EXISTS { (n)-[:FORM_OF]->(:KeyElement) }
MATCH (n)<-[:FORM_OF*0..1]-(k:KeyElement)
WITH collect(DISTINCT k) AS forms
UNWIND forms AS k
MATCH (k)<-[:MENTIONS|SUBJECT|OBJECT]-(f:Fact)-[at:FROM_CHUNK {found: true}]->(c:Chunk)
WHERE ($documents IS NULL OR EXISTS { (c)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents })
  AND coalesce(at.since, '') < $asOf[1] AND coalesce(at.until, '~') > $asOf[0]
WITH DISTINCT forms, c, f, at.start AS start, at.end AS end, at
ORDER BY start, f.id
WITH forms, c, collect({id: f.id, text: f.text, kind: f.kind, start: start, end: end, at: at}) AS every
WITH forms, c, every, [fact IN every WHERE fact.kind = 'atomic'] AS atomic
WITH forms, collect({passage: c, facts: CASE atomic WHEN [] THEN every ELSE atomic END}) AS groups
UNWIND groups AS g
WITH forms, groups, g, g.passage AS c
WITH forms, groups, g, c,
     CASE WHEN c.embedding IS NULL THEN 0.0 ELSE vector.similarity.cosine(c.embedding, $vector) END AS nearness
ORDER BY nearness DESC, c.id
LIMIT $count
MATCH (c)-[:FROM_DOCUMENT]->(d:Document)
RETURN size(groups) AS passages, reduce(total = 0, one IN groups | total + size(one.facts)) AS facts,
       [k IN forms | k.id] AS elements, {
         id: c.id, document: d.uri, title: d.name, start: c.start, end: c.end, page: c.page, text: c.text,
         location: c.location, locations: c.locations, locationStarts: c.locationStarts
       } AS passage, [fact IN g.facts | [
         fact.id, fact.text, fact.start, fact.end, fact.at.since, fact.at.until, fact.at.granularity
       ]] AS stated, nearness
ORDER BY d.name, d.id, c.index

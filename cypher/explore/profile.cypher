// What is known of a key element: what relations join it to, its attributes, the sentences about it, what is likely the
// same thing, and the documents that name it, those that do most first. A place that states a fact is a list: document,
// title, start, end, location, page, whether somebody added it by hand, since, until, granularity.
// mode: read
// param $id: string: the key element's id
// param $hub: int: how many relationships of a sort are looked at
// param $places: int: how many places of a fact
// returns: id, name, labels, type, text, degree, aliases, relations, attributes, sentences, alike, documents, around
MATCH (n:KeyElement {id: $id})
RETURN n.id AS id, n.name AS name, labels(n) AS labels, n.type AS type, '' AS text, COUNT { (n)--() } AS degree,
       coalesce(n.aliases, []) AS aliases,
       COLLECT {
         MATCH (n)-[r]-(o:Entity)
         WHERE r.fact IS NOT NULL
         WITH DISTINCT r, o
         LIMIT $hub
         MATCH (f:Fact {id: r.fact})
         RETURN {
           type: type(r), predicate: coalesce(r.predicate, f.predicate), forward: startNode(r) = n, fact: f.id,
           other: {id: o.id, name: o.name, labels: labels(o), type: o.type, text: '', degree: COUNT { (o)--() }},
           places: COLLECT {
             MATCH (f)-[at:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
             RETURN [
               d.id, d.name, at.start, at.end,
               coalesce(c.locations[size([s IN c.locationStarts WHERE s <= at.start]) - 1], c.location), c.page,
               d.uri STARTS WITH 'correction:', at.since, at.until, at.granularity
             ]
             ORDER BY d.key, at.start, d.id
             LIMIT $places
           }
         }
       } AS relations,
       COLLECT {
         MATCH (n)<-[:SUBJECT]-(f:Fact)-[:VALUE]->(a:Attribute)
         WITH f, a
         LIMIT $hub
         RETURN {
           name: coalesce(f.predicate, a.name), value: a.value, fact: f.id,
           places: COLLECT {
             MATCH (f)-[at:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
             RETURN [
               d.id, d.name, at.start, at.end,
               coalesce(c.locations[size([s IN c.locationStarts WHERE s <= at.start]) - 1], c.location), c.page,
               d.uri STARTS WITH 'correction:', at.since, at.until, at.granularity
             ]
             ORDER BY d.key, at.start, d.id
             LIMIT $places
           }
         } AS attribute
         ORDER BY attribute.name, attribute.value, attribute.fact
       } AS attributes,
       COLLECT {
         MATCH (n)<-[:MENTIONS]-(f:Fact {kind: 'atomic'})
         WITH f
         LIMIT $hub
         RETURN {
           fact: f.id, text: f.text,
           places: COLLECT {
             MATCH (f)-[at:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
             RETURN [
               d.id, d.name, at.start, at.end,
               coalesce(c.locations[size([s IN c.locationStarts WHERE s <= at.start]) - 1], c.location), c.page,
               d.uri STARTS WITH 'correction:', at.since, at.until, at.granularity
             ]
             ORDER BY d.key, at.start, d.id
             LIMIT $places
           }
         } AS statement
         ORDER BY size(statement.places) DESC, statement.places[0][1], statement.places[0][2], statement.fact
       } AS sentences,
       COLLECT {
         MATCH (n)-[same:SAME_AS]-(o:KeyElement)
         WITH o, same
         ORDER BY same.passage IS NULL, same.score DESC
         WITH o, head(collect(same)) AS same, max(same.score) AS score
         RETURN {
           score: score, by: same.by,
           places: COLLECT {
             MATCH (c:Chunk {id: same.passage})-[:FROM_DOCUMENT]->(d:Document)
             RETURN [
               d.id, d.name, same.start, same.end,
               coalesce(c.locations[size([s IN c.locationStarts WHERE s <= same.start]) - 1], c.location), c.page,
               d.uri STARTS WITH 'correction:'
             ]
           },
           other: {id: o.id, name: o.name, labels: labels(o), type: o.type, text: '', degree: COUNT { (o)--() }}
         }
         ORDER BY score DESC, o.name, o.id
       } AS alike,
       COLLECT {
         CALL (n) {
           MATCH (n)-[at:FROM_CHUNK]->(c:Chunk)
           RETURN at, c
           LIMIT $hub
         }
         MATCH (c)-[:FROM_DOCUMENT]->(d:Document)
         WITH d, count(c) AS passages, sum(coalesce(at.count, 1)) AS mentions, min(c.start) AS start
         RETURN {
           document: d.id, title: d.name, passages: passages, mentions: mentions, start: start,
           by_hand: d.uri STARTS WITH 'correction:'
         }
         ORDER BY passages DESC, mentions DESC, d.name, d.id
       } AS documents,
       COLLECT {
         MATCH above = (n)-[:MEMBER_OF]->(:Community)-[:PARENT]->{0,20}(:Community)
         WITH last(nodes(above)) AS c
         RETURN {
           id: c.id, name: c.name, labels: labels(c), type: null, text: left(c.summary, 300), degree: COUNT { (c)--() }
         }
         ORDER BY c.depth DESC
       } AS around

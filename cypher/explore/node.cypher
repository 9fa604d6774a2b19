// One node with its properties, the facts about it or stated in it, those that most passages state first and then by
// the name of the first document and the place in it, each with the places that state it, and the communities around
// it, the innermost first. Vectors stay where they are. A passage has the id of its document among its properties.
// mode: read
// param $id: string: the node's id
// param $hub: int: how many facts are looked at
// param $facts: int: how many facts
// param $places: int: how many places of a fact
// returns: id, name, labels, type, text, degree, properties, facts, communities
MATCH (n:KeyElement|Fact|Chunk|Document|Attribute|Keyword|Community|Page|Run|Step {id: $id})
RETURN n.id AS id, n.name AS name, labels(n) AS labels, n.type AS type,
       left(coalesce(n.text, n.summary, n.gist, n.value, n.answer, n.detail, ''), 300) AS text,
       COUNT { (n)--() } AS degree,
       n {
         .*,
         embedding: null,
         elementEmbedding: null,
         document: head([(n:Chunk)-[:FROM_DOCUMENT]->(d:Document) | d.id])
       } AS properties,
       COLLECT {
         CALL (n) {
           MATCH (n:KeyElement|Attribute)<-[:SUBJECT|OBJECT|MENTIONS|VALUE]-(f:Fact)
           RETURN f
           UNION
           MATCH (n:Chunk)<-[:FROM_CHUNK]-(f:Fact)
           RETURN f
           UNION
           MATCH (n:Step)-[:FOUND]->(f:Fact)
           RETURN f
           UNION
           MATCH (n:Fact)
           RETURN n AS f
         }
         WITH f
         LIMIT $hub
         WITH f,
              COLLECT {
                MATCH (f)-[at:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document)
                RETURN [d.key, at.start, at.end]
                ORDER BY d.key, at.start, at.end
              } AS stated
         ORDER BY size(stated) DESC, stated[0], f.text, f.id
         LIMIT $facts
         CALL (f) {
           MATCH (f)-[at:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
           WITH at, c, d
           ORDER BY d.key, at.start, d.id
           LIMIT $places
           RETURN at, c, d
         }
         RETURN {
           id: f.id, text: f.text, kind: f.kind, start: at.start, end: at.end, found: at.found, document: d.id,
           title: d.name, passage: c.id, page: c.page, by_hand: d.uri STARTS WITH 'correction:',
           since: at.since, until: at.until, granularity: at.granularity,
           location: coalesce(c.locations[size([s IN c.locationStarts WHERE s <= at.start]) - 1], c.location),
           sameAs: COLLECT {
             MATCH (c)<-[same:FROM_CHUNK]-(s:Fact {kind: 'atomic'})
             WHERE f.kind <> 'atomic' AND at.start = same.start AND at.end = same.end
               AND s.text CONTAINS f.subject AND s.text CONTAINS f.object
             RETURN s.id
           }
         }
       } AS facts,
       COLLECT {
         MATCH above = (n)-[:MEMBER_OF|KEYWORD_OF|PARENT]->(:Community)-[:PARENT]->{0,20}(:Community)
         WITH last(nodes(above)) AS c
         RETURN {
           id: c.id, name: c.name, labels: labels(c), type: null, text: left(c.summary, 300), degree: COUNT { (c)--() }
         }
         ORDER BY c.depth DESC
       } AS communities

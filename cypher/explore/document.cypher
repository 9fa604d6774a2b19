// A window of a document: its passages there, in order, and the facts that are stated in it.
// mode: read
// param $ids: list<string>: ids that the document may have
// param $start: int: first character
// param $end: int: the one after the last
// returns: id, title, uri, source, characters, summary, questions, pieces, facts
MATCH (d:Document)
WHERE d.id IN $ids
RETURN d.id AS id, d.name AS title, d.uri AS uri, d.source AS source, d.characters AS characters,
       coalesce(d.summary, '') AS summary, coalesce(d.questions, []) AS questions,
       COLLECT {
         MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d)
         WHERE c.start < $end AND c.end > $start
         RETURN [c.start, c.text]
         ORDER BY c.start, c.end, c.id
       } AS pieces,
       COLLECT {
         MATCH (f:Fact)-[at:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d)
         WHERE c.start < $end AND c.end > $start AND at.start < $end AND at.end > $start
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
         ORDER BY at.start, at.end, f.text, f.id
       } AS facts

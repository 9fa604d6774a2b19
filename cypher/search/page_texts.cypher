// The passages that overlap some pages, in reading order: the text of a page is not stored by itself.
// mode: read
// param $ids: list<string>: page ids
// returns: id, start, end, passages
UNWIND $ids AS page
MATCH (p:Page {id: page})-[:PAGE_OF]->(d:Document)
RETURN p.id AS id, p.start AS start, p.end AS end,
       COLLECT {
         MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d)
         WHERE c.start < p.end AND c.end > p.start
         RETURN {
           id: c.id, document: d.uri, title: d.name, start: c.start, end: c.end, page: c.page, text: c.text,
           location: c.location, locations: c.locations, locationStarts: c.locationStarts
         }
         ORDER BY c.start
       } AS passages

// The turns of a thread in order, each with the places that its answer cites; what was removed since is left out.
// mode: read
// param $id: string: the thread's id
// returns: number, asked, question, reader, text, note, statements, sufficient, failed, run, at, citations
MATCH (r:Run {thread: $id})
RETURN r.turn AS number, r.asked AS asked, r.question AS question, r.reader AS reader, r.answer AS text, r.note AS note,
       coalesce(r.statements, '[]') AS statements, r.sufficient AS sufficient,
       coalesce(r.failed, false) AS failed, r.id AS run, toString(r.at) AS at,
       COLLECT {
         MATCH (r)-[at:CITES]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
         RETURN [
           at.number,
           {
             document: d.uri, title: d.name, start: at.start, end: at.end, page: c.page, passage: c.id,
             found: coalesce(at.found, at.start > c.start OR at.end < c.end), text: coalesce(at.text, ''),
             location: coalesce(c.locations[size([s IN c.locationStarts WHERE s <= at.start]) - 1], c.location)
           }
         ] AS citation
         ORDER BY at.number
       } AS citations
ORDER BY number, at, run

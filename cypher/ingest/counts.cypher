// What the passages of these documents counted when they were read.
// mode: read
// param $documents: list<string>: document ids
// returns: kept, mapped, dropped, offSchema, unnamed, turned, found, notFound, duplicates, malformed, times, notKept
UNWIND $documents AS id
MATCH (c:Chunk {state: 'extracted'})-[:FROM_DOCUMENT]->(:Document {id: id})
RETURN c.kept AS kept, c.mapped AS mapped, c.dropped AS dropped, c.offSchema AS offSchema,
       coalesce(c.unnamed, 0) AS unnamed, coalesce(c.turned, 0) AS turned, c.found AS found, c.notFound AS notFound,
       c.duplicates AS duplicates, coalesce(c.malformedKinds, []) AS malformed,
       coalesce(c.malformedCounts, []) AS times, coalesce(c.notKept, '{}') AS notKept

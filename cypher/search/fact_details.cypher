// What is said of facts in a result: their words, and every place that states them.
// mode: read
// param $ids: list<string>: fact ids
// param $places: int: most citations of a fact
// param $passages: list<string>: ids of the passages to cite; null: all
// param $asOf: list<string>: the first day of a time, and the day after its last; what is said of other times stays out
// returns: facts
// each: id, text, places
UNWIND $ids AS id
MATCH (f:Fact {id: id})
RETURN collect([
         id,
         f.text,
         COLLECT {
           MATCH (f)-[at:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
           WHERE ($passages IS NULL OR c.id IN $passages)
             AND coalesce(at.since, '') < $asOf[1] AND coalesce(at.until, '~') > $asOf[0]
           RETURN {
             document: d.uri, title: d.name, start: at.start, end: at.end, page: c.page, passage: c.id,
             found: at.found, since: at.since, until: at.until, granularity: at.granularity, time_start: at.timeStart,
             time_end: at.timeEnd,
             location: coalesce(c.locations[size([s IN c.locationStarts WHERE s <= at.start]) - 1], c.location)
           } AS place
           ORDER BY d.uri, at.start
           LIMIT $places
         }
       ]) AS facts

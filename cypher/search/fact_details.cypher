// What is said of facts in a result: their words, and every place that states them.
// mode: read
// param $ids: list<string>: fact ids
// param $places: int: most citations of a fact
// param $passages: list<string>: ids of the passages to cite; null: all
// returns: facts
// each: id, text, places
UNWIND $ids AS id
MATCH (f:Fact {id: id})
RETURN collect([
         id,
         f.text,
         COLLECT {
           MATCH (f)-[evidence:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
           WHERE $passages IS NULL OR c.id IN $passages
           RETURN {
             document: d.uri, title: d.name, start: evidence.start, end: evidence.end, page: c.page, passage: c.id,
             found: evidence.found,
             location: coalesce(c.locations[size([s IN c.locationStarts WHERE s <= evidence.start]) - 1], c.location)
           } AS place
           ORDER BY d.uri, evidence.start
           LIMIT $places
         }
       ]) AS facts

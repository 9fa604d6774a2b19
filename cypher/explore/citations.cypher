// What the answer of a saved run cites, by number; what was removed since is left out. One row if the run is there.
// mode: read
// param $id: string: the run's id
// returns: citations
MATCH (r:Run {id: $id})
RETURN COLLECT {
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

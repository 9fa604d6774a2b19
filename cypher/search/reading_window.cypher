// A passage with those around it in its document: on each side as many as $characters reach, and one beyond.
// mode: read
// param $id: string: passage id
// param $characters: int: how much text on each side
// returns: id, document, title, start, end, page, text, location, locations, locationStarts, place
MATCH (c:Chunk {id: $id})-[:FROM_DOCUMENT]->(d:Document)
CALL (c) {
  RETURN c AS near, 0 AS place
  UNION ALL
  MATCH p = (c)-[:NEXT_CHUNK*1..40]->(near:Chunk)
  WHERE reduce(sum = 0, n IN nodes(p)[1..-1] | sum + size(n.text)) < $characters
  RETURN near, length(p) AS place
  UNION ALL
  MATCH p = (near:Chunk)-[:NEXT_CHUNK*1..40]->(c)
  WHERE reduce(sum = 0, n IN nodes(p)[1..-1] | sum + size(n.text)) < $characters
  RETURN near, -length(p) AS place
}
RETURN near.id AS id, d.uri AS document, d.name AS title, near.start AS start, near.end AS end, near.page AS page,
       near.text AS text, near.location AS location, near.locations AS locations,
       near.locationStarts AS locationStarts, place
ORDER BY place

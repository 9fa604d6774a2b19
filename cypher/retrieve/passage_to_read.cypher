// A passage with the ids of those before and after it in its document.
// mode: read
// param $id: string: passage id
// returns: id, document, title, start, end, page, text, before, after
MATCH (c:Chunk {id: $id})-[:FROM_DOCUMENT]->(d:Document)
OPTIONAL MATCH (before:Chunk)-[:NEXT_CHUNK]->(c)
OPTIONAL MATCH (c)-[:NEXT_CHUNK]->(after:Chunk)
RETURN c.id AS id, d.uri AS document, d.name AS title, c.start AS start, c.end AS end, c.page AS page, c.text AS text,
       before.id AS before, after.id AS after

// Passages of some documents in reading order, a page of them: documents by title, then by id.
// mode: read
// param $documents: list<string>: document ids
// param $after: string: the normalised title of the last passage's document of the page before
// param $document: string: its document's id
// param $place: int: its place in the document
// param $count: int: how many
// returns: id, document, title, start, end, page, text, location, locations, locationStarts, key, documentId, place
MATCH (d:Document)
WHERE d.id IN $documents AND d.key >= $after AND NOT (d.key = $after AND d.id < $document)
MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d)
WHERE d.id <> $document OR c.index > $place
RETURN c.id AS id, d.uri AS document, d.name AS title, c.start AS start, c.end AS end, c.page AS page, c.text AS text,
       c.location AS location, c.locations AS locations, c.locationStarts AS locationStarts, d.key AS key,
       d.id AS documentId, c.index AS place
ORDER BY key, documentId, place
LIMIT $count

// Passages from the end of the reading order to its beginning, a page of them: documents by title, then by id.
// mode: read
// param $documents: list<string>: ids of the documents to read; all if there is none
// param $before: string: the normalised title of the last passage's document of the page before; empty at the end
// param $document: string: its document's id
// param $place: int: its place in the document
// param $count: int: how many
// returns: id, document, title, start, end, page, text, location, locations, locationStarts, key, documentId, place
MATCH (d:Document)
WHERE (size($documents) = 0 OR d.id IN $documents)
  AND ($document = '' OR d.key < $before OR (d.key = $before AND d.id <= $document))
  AND EXISTS { (:Chunk)-[:FROM_DOCUMENT]->(d) }
WITH d
ORDER BY d.key DESC, d.id DESC
LIMIT $count + 1
MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d)
WHERE d.id <> $document OR c.index < $place
RETURN c.id AS id, d.uri AS document, d.name AS title, c.start AS start, c.end AS end, c.page AS page, c.text AS text,
       c.location AS location, c.locations AS locations, c.locationStarts AS locationStarts, d.key AS key,
       d.id AS documentId, c.index AS place
ORDER BY key DESC, documentId DESC, place DESC
LIMIT $count

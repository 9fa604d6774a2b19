// How much there is to read: the documents that have passages, and their characters.
// mode: read
// param $documents: list<string>: ids of the documents to count; all if there is none
// returns: documents, characters
MATCH (d:Document)
WHERE (size($documents) = 0 OR d.id IN $documents) AND EXISTS { (:Chunk)-[:FROM_DOCUMENT]->(d) }
RETURN count(d) AS documents, coalesce(sum(d.characters), 0) AS characters

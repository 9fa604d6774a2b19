// How much there is to read: the documents that have passages, and their characters.
// mode: read
// returns: documents, characters
MATCH (d:Document)
WHERE EXISTS { (:Chunk)-[:FROM_DOCUMENT]->(d) }
RETURN count(d) AS documents, coalesce(sum(d.characters), 0) AS characters

// The documents that the graph has of a file, with their passages.
// mode: read
// param $source: string: URI of a file
// returns: id, passages
MATCH (d:Document {source: $source})
RETURN d.id AS id, COLLECT { MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d) RETURN c.id } AS passages

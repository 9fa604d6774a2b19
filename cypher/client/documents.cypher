// The documents of the graph, with how far they were read.
// mode: read
// returns: id, name, uri, source, characters, tokens, addedAt, chunks, extracted, failed
MATCH (d:Document)
RETURN d.id AS id, d.name AS name, d.uri AS uri, d.source AS source, d.characters AS characters, d.tokens AS tokens,
       toString(d.addedAt) AS addedAt,
       COUNT { (:Chunk)-[:FROM_DOCUMENT]->(d) } AS chunks,
       COUNT { (:Chunk {state: 'extracted'})-[:FROM_DOCUMENT]->(d) } AS extracted,
       COUNT { (:Chunk {state: 'failed'})-[:FROM_DOCUMENT]->(d) } AS failed
ORDER BY name, uri

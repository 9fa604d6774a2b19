// The documents of the graph, with how far they were read, the pages of their memories for any question, and metadata.
// mode: read
// returns: id, title, uri, source, characters, tokens, added_at, modified_at, passages, extracted, failed, pages, compression, meta
MATCH (d:Document)
RETURN d.id AS id, d.name AS title, d.uri AS uri, d.source AS source, d.characters AS characters, d.tokens AS tokens,
       toString(d.addedAt) AS added_at, d.modifiedAt AS modified_at,
       COUNT { (:Chunk)-[:FROM_DOCUMENT]->(d) } AS passages,
       COUNT { (:Chunk {state: 'extracted'})-[:FROM_DOCUMENT]->(d) } AS extracted,
       COUNT { (:Chunk {state: 'failed'})-[:FROM_DOCUMENT]->(d) } AS failed,
       COUNT { (:Page {question: ''})-[:PAGE_OF]->(d) } AS pages,
       d.compression AS compression,
       [key IN keys(d) WHERE key STARTS WITH 'meta_' | [key, d[key]]] AS meta
ORDER BY title, uri

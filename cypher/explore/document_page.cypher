// Documents by the page: those whose title or file has a text, in the order of one column, with how far they were read
// and what was read from them; and how many there are. All in one row.
// mode: read
// param $text: string: part of the title or the file's address, in lower case; empty for all
// param $address: string: the same as addresses of files spell it
// param $sort: string: title, file, added, characters, passages, facts or failed
// param $descending: bool: whether the last comes first
// param $skip: int: how many come before the page
// param $limit: int: how many are on the page
// returns: total, documents
RETURN COUNT {
         MATCH (d:Document)
         WHERE toLower(d.name) CONTAINS $text OR any(part IN [$text, $address] WHERE toLower(d.source) CONTAINS part)
       } AS total,
       COLLECT {
         MATCH (d:Document)
         WHERE toLower(d.name) CONTAINS $text OR any(part IN [$text, $address] WHERE toLower(d.source) CONTAINS part)
         WITH d,
              CASE $sort
                WHEN 'file' THEN toLower(d.source)
                WHEN 'added' THEN toString(d.addedAt)
                WHEN 'characters' THEN d.characters
                WHEN 'passages' THEN COUNT { (:Chunk)-[:FROM_DOCUMENT]->(d) }
                WHEN 'facts' THEN COUNT { (d)<-[:FROM_DOCUMENT]-(:Chunk)<-[:FROM_CHUNK]-(:Fact) }
                WHEN 'failed' THEN COUNT { (:Chunk {state: 'failed'})-[:FROM_DOCUMENT]->(d) }
                ELSE toLower(d.name)
              END AS place
         ORDER BY CASE WHEN $descending THEN null ELSE place END, CASE WHEN $descending THEN place END DESC,
                  toLower(d.name), d.uri
         SKIP $skip
         LIMIT $limit
         RETURN {
           id: d.id, title: d.name, uri: d.uri, source: d.source, characters: d.characters, tokens: d.tokens,
           added_at: toString(d.addedAt), modified_at: d.modifiedAt,
           metadata: [name IN keys(d) WHERE name STARTS WITH 'meta_' | [name, d[name]]],
           passages: COUNT { (:Chunk)-[:FROM_DOCUMENT]->(d) },
           extracted: COUNT { (:Chunk {state: 'extracted'})-[:FROM_DOCUMENT]->(d) },
           failed: COUNT { (:Chunk {state: 'failed'})-[:FROM_DOCUMENT]->(d) },
           pages: COUNT { (:Page {question: ''})-[:PAGE_OF]->(d) },
           compression: d.compression,
           facts: COUNT { (d)<-[:FROM_DOCUMENT]-(:Chunk)<-[:FROM_CHUNK]-(:Fact) },
           failures: COLLECT {
             MATCH (c:Chunk {state: 'failed'})-[:FROM_DOCUMENT]->(d)
             WHERE c.failure IS NOT NULL
             RETURN DISTINCT c.failure AS failure
             ORDER BY failure
             LIMIT 3
           }
         }
       } AS documents

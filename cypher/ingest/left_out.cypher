// Passages that keep what strict mode left out, and were bounded by another schema than what their seed is now.
// mode: read
// param $seed: string: the id of the schema that they began with
// param $schema: string: the id of a schema
// returns: passage, document, title, leftOut
MATCH (c:Chunk {state: 'extracted'})-[:FROM_DOCUMENT]->(d:Document)
WHERE c.seed = $seed AND c.boundBy <> $schema
RETURN c {.id, .name, .text, .index, .start, .end, .page, .tokens} AS passage, d.id AS document, d.name AS title,
       c.leftOut AS leftOut
ORDER BY c.id

// Documents without a summary of the text that they have now, with their first passages.
// mode: read
// param $sources: list<string>: where documents come from
// param $passages: int: how many passages of each
// returns: id, title, sha256, text
MATCH (d:Document)
WHERE d.source IN $sources AND coalesce(d.introducedFor, '') <> d.sha256
RETURN d.id AS id, d.name AS title, d.sha256 AS sha256,
       reduce(text = '', part IN COLLECT {
         MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d)
         WHERE c.index < $passages
         RETURN c.text
         ORDER BY c.index
       } | text + part + '\n\n') AS text
ORDER BY title, id

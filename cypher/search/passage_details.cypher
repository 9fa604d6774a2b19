// What is said of passages in a result, and how near each is to the question by meaning, if one is asked. A graph that
// other software filled may not say where they stand.
// mode: read
// param $ids: list<string>: passage ids
// param $vector: list<float>: the question's vector; null where nothing is asked
// returns: passages
// each: id, document, title, start, end, page, text, cosine, location, locations, locationStarts, metadata
UNWIND $ids AS id
MATCH (c:Chunk {id: id})-[:FROM_DOCUMENT]->(d:Document)
WITH id, c, d, round(2 * vector.similarity.cosine(c.embedding, $vector) - 1, 6) AS cosine
RETURN collect([
         id, d.uri, d.name, coalesce(c.start, 0), coalesce(c.end, size(c.text)), c.page, c.text, cosine,
         c.location, c.locations, c.locationStarts,
         [key IN keys(d) WHERE key STARTS WITH 'meta_' | [key, d[key]]]
       ]) AS passages

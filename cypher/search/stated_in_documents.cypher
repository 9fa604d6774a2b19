// Facts that some documents state, nearest by meaning; each of them is compared.
// mode: read
// param $documents: list<string>: document ids
// param $k: int: how many
// param $vector: list<float>: the question's vector
// param $asOf: list<string>: the first day of a time, and the day after its last; what is said of other times stays out
// returns: id, cosine, passages
MATCH (f:Fact)-[at:FROM_CHUNK {found: true}]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
WHERE d.id IN $documents AND f.embedding IS NOT NULL
  AND coalesce(at.since, '') < $asOf[1] AND coalesce(at.until, '~') > $asOf[0]
WITH f, collect(DISTINCT c.id) AS passages
WITH f.id AS id, 2 * vector.similarity.cosine(f.embedding, $vector) - 1 AS cosine, passages
RETURN id, cosine, passages
ORDER BY cosine DESC, id
LIMIT $k

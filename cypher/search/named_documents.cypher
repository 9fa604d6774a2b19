// Passages of documents that the question names, the nearest by meaning of each.
// mode: read
// param $names: list<string>: normalised names, the runs of words of the question
// param $k: int: how many passages of a document
// param $vector: list<float>: the question's vector
// returns: passages
// each: document, key, id, cosine
MATCH (d:Document)
WHERE d.key IN $names
CALL (d) {
  MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d)
  WHERE c.embedding IS NOT NULL
  WITH c, 2 * vector.similarity.cosine(c.embedding, $vector) - 1 AS cosine
  ORDER BY cosine DESC, c.id
  LIMIT $k
  RETURN c, cosine
}
WITH d.id AS document, d.key AS key, c.id AS id, cosine
ORDER BY document, cosine DESC, id
RETURN collect([document, key, id, cosine]) AS passages

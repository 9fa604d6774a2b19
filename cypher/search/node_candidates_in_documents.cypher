// GraphReader's nodes that some documents state facts of, near a text in three ways, each best first, as
// node_candidates has them; each name, fact and passage of the documents is compared.
// mode: read
// param $documents: list<string>: document ids
// param $k: int: how many of each way
// param $passages: int: how many passages
// param $vector: list<float>: the text's vector
// returns: way, names
CALL () {
  MATCH (d:Document)<-[:FROM_DOCUMENT]-(:Chunk)<-[:FROM_CHUNK {found: true}]-(f:Fact)
  WHERE d.id IN $documents
  MATCH (f)-[:SUBJECT|OBJECT|MENTIONS]->(k:KeyElement)
  WITH DISTINCT k, coalesce(k.embedding, k.elementEmbedding) AS embedding
  WHERE embedding IS NOT NULL
  RETURN 'name' AS way, k, vector.similarity.cosine(embedding, $vector) AS score
  ORDER BY score DESC, k.id
  LIMIT $k
  UNION ALL
  MATCH (d:Document)<-[:FROM_DOCUMENT]-(:Chunk)<-[:FROM_CHUNK {found: true}]-(f:Fact)
  WHERE d.id IN $documents AND f.embedding IS NOT NULL
  WITH DISTINCT f
  WITH f, vector.similarity.cosine(f.embedding, $vector) AS score
  ORDER BY score DESC, f.id
  LIMIT $k
  MATCH (f)-[:SUBJECT|OBJECT|MENTIONS]->(k:KeyElement)
  RETURN 'fact' AS way, k, score
  UNION ALL
  MATCH (d:Document)<-[:FROM_DOCUMENT]-(c:Chunk)
  WHERE d.id IN $documents AND c.embedding IS NOT NULL
  WITH c, vector.similarity.cosine(c.embedding, $vector) AS score
  ORDER BY score DESC, c.id
  LIMIT $passages
  MATCH (c)<-[:FROM_CHUNK {found: true}]-(:Fact)-[:SUBJECT|OBJECT|MENTIONS]->(k:KeyElement)
  RETURN 'passage' AS way, k, score
}
OPTIONAL MATCH (k)-[:FORM_OF]->(r:KeyElement)
WITH way, coalesce(r.name, k.name) AS name, score, coalesce(k.embedding, k.elementEmbedding) AS embedding
WITH way, name, max(score) AS nearness,
     max(CASE WHEN embedding IS NULL THEN 0.0 ELSE vector.similarity.cosine(embedding, $vector) END) AS likeness
ORDER BY nearness DESC, likeness DESC, name
WITH way, collect(name)[..$k] AS names
RETURN way, names
ORDER BY way

// GraphReader's nodes that are near a text, in three ways, each best first: names near it by meaning, nodes of the
// facts, and of the passages, that are nearest.
// mode: read
// param $k: int: how many of each way
// param $passages: int: how many passages
// param $vector: list<float>: the text's vector
// returns: way, names
CALL () {
  CALL db.index.vector.queryNodes('entity_embedding', $k + 100, $vector) YIELD node AS k, score
  RETURN 'name' AS way, k, score
  ORDER BY score DESC, k.id
  LIMIT $k
  UNION ALL
  CALL db.index.vector.queryNodes('element_embedding', $k + 100, $vector) YIELD node AS k, score
  RETURN 'name' AS way, k, score
  ORDER BY score DESC, k.id
  LIMIT $k
  UNION ALL
  CALL db.index.vector.queryNodes('fact_embedding', $k + 100, $vector) YIELD node AS f, score
  WITH f, score
  ORDER BY score DESC, f.id
  LIMIT $k
  MATCH (f)-[:SUBJECT|OBJECT|MENTIONS]->(k:KeyElement)
  WHERE EXISTS { (f)-[:FROM_CHUNK {found: true}]->() }
  RETURN 'fact' AS way, k, score
  UNION ALL
  CALL db.index.vector.queryNodes('chunk_embedding', $passages + 100, $vector) YIELD node AS c, score
  WITH c, score
  ORDER BY score DESC, c.id
  LIMIT $passages
  MATCH (c)<-[:FROM_CHUNK {found: true}]-(f:Fact)-[:SUBJECT|OBJECT|MENTIONS]->(k:KeyElement)
  RETURN 'passage' AS way, k, score
}
MATCH (k)
WHERE way <> 'name' OR EXISTS {
  (k)<-[:FORM_OF*0..1]-(:KeyElement)<-[:MENTIONS|SUBJECT|OBJECT]-(:Fact)-[:FROM_CHUNK {found: true}]->()
}
OPTIONAL MATCH (k)-[:FORM_OF]->(r:KeyElement)
WITH way, coalesce(r.name, k.name) AS name, score, coalesce(k.embedding, k.elementEmbedding) AS embedding
WITH way, name, max(score) AS nearness,
     max(CASE WHEN embedding IS NULL THEN 0.0 ELSE vector.similarity.cosine(embedding, $vector) END) AS likeness
ORDER BY nearness DESC, likeness DESC, name
WITH way, collect(name)[..$k] AS names
RETURN way, names
ORDER BY way

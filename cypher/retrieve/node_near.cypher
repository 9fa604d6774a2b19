// GraphReader's nodes that are nearest to a text by meaning: the names of entities and of other key elements.
// mode: read
// param $k: int: how many each index is asked for
// param $count: int: how many nodes
// param $vector: list<float>: the text's vector
// returns: name
CALL () {
  CALL db.index.vector.queryNodes('entity_embedding', $k, $vector) YIELD node AS k, score
  RETURN k, score
  UNION ALL
  CALL db.index.vector.queryNodes('element_embedding', $k, $vector) YIELD node AS k, score
  RETURN k, score
}
MATCH (k)
WHERE EXISTS { (k)<-[:MENTIONS|SUBJECT|OBJECT]-(:Fact) }
OPTIONAL MATCH (k)-[:FORM_OF]->(r:KeyElement)
WITH coalesce(r.name, k.name) AS name, max(score) AS nearness
ORDER BY nearness DESC, name
LIMIT $count
RETURN name

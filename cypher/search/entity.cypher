// Route entity: entities that the question names, or whose names are nearest by meaning.
// mode: read
// param $k: int: how many by meaning
// param $among: int: how many the index is asked for: it finds the nearest of them the more surely
// param $vector: list<float>: the question's vector
// param $names: list<string>: normalised names, the runs of words of the question
// returns: entities
// each: id, key, cosine, named
CALL () {
  MATCH (e:Entity)
  WHERE e.key IN $names AND e.embedding IS NOT NULL
  RETURN e, true AS named
  UNION ALL
  CALL db.index.vector.queryNodes('entity_embedding', $among, $vector) YIELD node, score
  RETURN node AS e, false AS named
  ORDER BY score DESC, e.id
  LIMIT $k
}
WITH e, max(named) AS named
WITH e.id AS id, e.key AS key, 2 * vector.similarity.cosine(e.embedding, $vector) - 1 AS cosine, named
ORDER BY named DESC, cosine DESC, id
RETURN collect([id, key, cosine, named]) AS entities

// The communities that a question over all of the graph is put to: those of one depth, and innermost ones above it, in
// the order of the tree. Each with the communities around it, the outermost first, as [name, summary]. Nothing without
// a finished tree.
// mode: read
// param $deepest: int: the depth of the communities, 0 for the outermost
// param $vector: list<float>: the question's vector
// returns: id, name, summary, size, depth, score, above, place
MATCH (:Graph {id: 'graph', treeState: 'complete'})
MATCH (c:Community)
WHERE c.depth = $deepest OR (c.depth < $deepest AND NOT EXISTS { (c)<-[:PARENT]-() })
CALL (c) {
  MATCH (c)-[:PARENT]->{0,20}(around:Community)
  WITH around
  ORDER BY around.depth
  RETURN collect(around) AS line
}
RETURN c.id AS id, c.name AS name, c.summary AS summary, c.size AS size, c.depth AS depth,
       CASE WHEN c.embedding IS NULL THEN 0.0 ELSE 2 * vector.similarity.cosine(c.embedding, $vector) - 1 END AS score,
       [around IN line[..-1] | [around.name, around.summary]] AS above,
       [around IN line | [-around.size, around.id]] AS place
ORDER BY place

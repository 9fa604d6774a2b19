// The entities that mean most nearly the same as each of these: pairs of an id and a cosine.
// mode: read
// param $ids: list<string>: entity ids
// param $candidates: int: how many are looked at
// param $count: int: how many of these are wanted
// returns: id, others
UNWIND $ids AS id
MATCH (e:Entity {id: id})
WHERE e.embedding IS NOT NULL
CALL (e) {
  CALL db.index.vector.queryNodes('entity_embedding', $candidates, e.embedding) YIELD node, score
  WHERE node <> e
  WITH node, score
  ORDER BY score DESC, node.id
  LIMIT $count
  RETURN collect([node.id, 2 * score - 1]) AS others
}
RETURN id, others

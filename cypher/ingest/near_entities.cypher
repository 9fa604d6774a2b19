// Entities that mean nearly the same as these key elements, which are none.
// mode: read
// param $ids: list<string>: key element ids
// param $candidates: int: how many are looked at
// param $threshold: float: least cosine
// returns: id, key, isEntity, other, otherKey, otherIsEntity, score
UNWIND $ids AS id
MATCH (k:KeyElement {id: id})
WHERE k.elementEmbedding IS NOT NULL
CALL db.index.vector.queryNodes('entity_embedding', $candidates, k.elementEmbedding) YIELD node, score
WITH k, node, 2 * score - 1 AS score
WHERE score >= $threshold
RETURN k.id AS id, k.key AS key, k:Entity AS isEntity, node.id AS other, node.key AS otherKey,
       node:Entity AS otherIsEntity, round(score, 4) AS score

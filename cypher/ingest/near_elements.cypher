// Key elements that are not entities and mean nearly the same as these, which may be entities.
// mode: read
// param $ids: list<string>: key element ids
// param $candidates: int: how many are looked at
// param $threshold: float: least cosine
// returns: id, key, isEntity, other, otherKey, otherIsEntity, score
UNWIND $ids AS id
MATCH (k:KeyElement {id: id})
WITH k, coalesce(k.elementEmbedding, k.embedding) AS meaning
WHERE meaning IS NOT NULL
CALL db.index.vector.queryNodes('element_embedding', $candidates, meaning) YIELD node, score
WITH k, node, 2 * score - 1 AS score
WHERE node <> k AND score >= $threshold
RETURN k.id AS id, k.key AS key, k:Entity AS isEntity, node.id AS other, node.key AS otherKey,
       node:Entity AS otherIsEntity, round(score, 4) AS score

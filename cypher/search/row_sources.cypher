// What rows of a statement rest on: the facts and passages that they hold the ids of, and the names of other nodes that
// they hold the ids of. Of an attribute no facts whose words no passage has.
// mode: read
// param $ids: list<string>: ids of any nodes
// returns: id, facts, passages, name
UNWIND $ids AS id
CALL (id) {
  MATCH (f:Fact {id: id})
  RETURN [id] AS facts, [] AS passages, null AS name
  UNION ALL
  MATCH (c:Chunk {id: id})
  RETURN [] AS facts, [id] AS passages, null AS name
  UNION ALL
  MATCH (e:KeyElement {id: id})
  RETURN [] AS facts, [] AS passages, e.name AS name
  UNION ALL
  MATCH (a:Attribute {id: id})<-[:VALUE]-(f:Fact)
  WHERE EXISTS { (f)-[:FROM_CHUNK {found: true}]->(:Chunk) }
    OR NOT EXISTS { (f)-[:FROM_CHUNK {found: false}]->(:Chunk) }
  WITH f.id AS fact
  ORDER BY fact
  LIMIT 3
  RETURN collect(fact) AS facts, [] AS passages, null AS name
}
RETURN id, facts, passages, name

// What rows of a statement rest on: the facts and chunks that they hold the ids of, and the names of other nodes that
// they hold the ids of.
// mode: read
// param $ids: list<string>: ids of any nodes
// returns: id, facts, chunks, name
UNWIND $ids AS id
CALL (id) {
  MATCH (f:Fact {id: id})
  RETURN [id] AS facts, [] AS chunks, null AS name
  UNION ALL
  MATCH (c:Chunk {id: id})
  RETURN [] AS facts, [id] AS chunks, null AS name
  UNION ALL
  MATCH (e:KeyElement {id: id})
  RETURN [] AS facts, [] AS chunks, e.name AS name
  UNION ALL
  MATCH (a:Attribute {id: id})<-[:VALUE]-(f:Fact)
  WITH f.id AS fact
  ORDER BY fact
  LIMIT 3
  RETURN collect(fact) AS facts, [] AS chunks, null AS name
}
RETURN id, facts, chunks, name

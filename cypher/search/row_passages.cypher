// Passages that name the entities of a row, those that name the most of them first.
// mode: read
// param $rows: list<map>: number, names: of a row, and the names that it speaks of
// param $most: int: how many passages of a row
// returns: number, passages
UNWIND $rows AS row
CALL (row) {
  MATCH (e:Entity)-[:FROM_CHUNK]->(c:Chunk)
  WHERE e.name IN row.names
  WITH c.id AS passage, count(DISTINCT e.name) AS named
  ORDER BY named DESC, passage
  LIMIT $most
  RETURN collect(passage) AS passages
}
RETURN row.number AS number, passages

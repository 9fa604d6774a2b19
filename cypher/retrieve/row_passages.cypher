// Passages that name the entities of a row, those that name the most of them first.
// mode: read
// param $rows: list<map>: number, names: of a row, and the names that it speaks of
// param $most: int: how many passages of a row
// returns: number, chunks
UNWIND $rows AS row
CALL (row) {
  MATCH (e:Entity)-[:FROM_CHUNK]->(c:Chunk)
  WHERE e.name IN row.names
  WITH c.id AS chunk, count(DISTINCT e.name) AS named
  ORDER BY named DESC, chunk
  LIMIT $most
  RETURN collect(chunk) AS chunks
}
RETURN row.number AS number, chunks

// Entities with these words in their names, all of them and no others, or with these consonants.
// mode: read
// param $rows: list<map>: id, names, consonants: the names as values of nameWords
// returns: id, other, key
UNWIND $rows AS row
CALL (row) {
  MATCH (e:Entity)
  WHERE e.nameWords IN row.names
  RETURN e
  UNION
  MATCH (e:Entity {consonants: row.consonants})
  RETURN e
}
WITH row, e
WHERE e.id <> row.id
RETURN row.id AS id, e.id AS other, e.key AS key

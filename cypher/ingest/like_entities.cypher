// Entities with these words in their names, all of them and no others, or with these consonants.
// mode: read
// param $rows: list<map>: id, words: as property values, consonants
// returns: id, other, key
UNWIND $rows AS row
CALL (row) {
  MATCH (e:Entity)
  WHERE e.nameWords IN row.words
  RETURN e
  UNION
  MATCH (e:Entity {consonants: row.consonants})
  RETURN e
}
WITH row, e
WHERE e.id <> row.id
RETURN row.id AS id, e.id AS other, e.key AS key

// Entities with these words in their names, all of them and no others, or with these consonants.
// mode: read
// param $rows: list<map>: id, nameWords, consonants
// returns: id, other, key, type
UNWIND $rows AS row
CALL (row) {
  MATCH (e:Entity {nameWords: row.nameWords})
  RETURN e
  UNION
  MATCH (e:Entity {consonants: row.consonants})
  RETURN e
}
WITH row, e
WHERE e.id <> row.id
RETURN row.id AS id, e.id AS other, e.key AS key, e.type AS type

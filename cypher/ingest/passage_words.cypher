// The words that a search compares, of passages in other languages than English.
// mode: write
// param $rows: list<map>: id, words: joined by blanks
UNWIND $rows AS row
MATCH (c:Chunk {id: row.id})
SET c.words = row.words

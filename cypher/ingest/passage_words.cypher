// The words that a search compares: of passages in other languages than English, and of all as they were typed.
// mode: write
// param $rows: list<map>: id, words, exact: words are joined by blanks, and null in English
UNWIND $rows AS row
MATCH (c:Chunk {id: row.id})
SET c.words = row.words, c.exact = row.exact

// How much the gists of documents save; null where not every page has one. Skipped: a document with another text now.
// mode: write
// param $rows: list<map>: id, sha256, compression: percent of the words
UNWIND $rows AS row
MATCH (d:Document {id: row.id, sha256: row.sha256})
SET d.compression = row.compression

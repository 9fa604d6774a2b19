// What else is known of documents, in place of what was known. ``metadata`` is a map of properties, whose names
// have a prefix and are checked.
// mode: write
// param $rows: list<map>: id, metadata, modifiedAt
UNWIND $rows AS row
MATCH (d:Document {id: row.id})
FOREACH (key IN [key IN keys(d) WHERE key STARTS WITH 'meta_'] | REMOVE d[key])
SET d += row.metadata, d.modifiedAt = row.modifiedAt

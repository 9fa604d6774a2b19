// What else is known of documents, in place of what was known. ``metadata`` is a map of properties, whose names
// have a prefix and are checked; ``given`` is what of them ingests gave.
// mode: write
// param $rows: list<map>: id, metadata, modifiedAt, given
UNWIND $rows AS row
MATCH (d:Document {id: row.id})
FOREACH (key IN [key IN keys(d) WHERE key STARTS WITH 'meta_'] | REMOVE d[key])
SET d += row.metadata, d.modifiedAt = row.modifiedAt, d.given = row.given

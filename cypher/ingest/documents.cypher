// Documents, new or changed.
// mode: write
// param $rows: list<map>: id, name, key, uri, source, sha256, characters, tokens, language, modifiedAt
UNWIND $rows AS row
MERGE (d:Document {id: row.id})
ON CREATE SET d.addedAt = datetime()
SET d.name = row.name,
    d.key = row.key,
    d.uri = row.uri,
    d.source = row.source,
    d.sha256 = row.sha256,
    d.characters = row.characters,
    d.tokens = row.tokens,
    d.language = row.language,
    d.modifiedAt = row.modifiedAt

// The name that most chunks use, and the other forms as aliases.
// mode: write
// param $rows: list<map>: id, name, aliases
UNWIND $rows AS row
MATCH (k:KeyElement {id: row.id})
SET k.name = row.name,
    k.aliases = row.aliases

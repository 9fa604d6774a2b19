// The name that most passages use, the other forms as aliases, and what all have in common. The vector of another name goes at once, so that it
// is due whatever happens next.
// mode: write
// param $rows: list<map>: id, name, stem, aliases, stale
UNWIND $rows AS row
MATCH (k:KeyElement {id: row.id})
SET k.name = row.name,
    k.stem = row.stem,
    k.aliases = row.aliases
FOREACH (_ IN CASE WHEN row.stale THEN [1] ELSE [] END | REMOVE k.embedding, k.elementEmbedding)

// The name that most passages use, and the other forms as aliases. The vector of another name goes at once, so that it
// is due whatever happens next.
// mode: write
// param $rows: list<map>: id, name, aliases, stale
UNWIND $rows AS row
MATCH (k:KeyElement {id: row.id})
SET k.name = row.name,
    k.aliases = row.aliases
FOREACH (_ IN CASE WHEN row.stale THEN [1] ELSE [] END | REMOVE k.embedding, k.elementEmbedding)

// Properties that are lists without items, which `neo4j-admin database import` takes for none.
// mode: write
// param $rows: list<map>: id, names
UNWIND $rows AS row
MATCH (n:Graph|Document|Chunk|KeyElement|Attribute|Fact|Community|Keyword|Page|ProposedType|Correction|Run|Step {id: row.id})
FOREACH (name IN row.names | SET n[name] = [])

// Key elements of atomic facts that are not entities (GraphReader, section 3.2).
// mode: write
// param $rows: list<map>: id, name, key, stem
UNWIND $rows AS row
MERGE (k:KeyElement {id: row.id})
ON CREATE SET k.name = row.name,
              k.key = row.key,
              k.stem = row.stem
SET k:Pending

// Key elements of atomic facts that are no entity (GraphReader, section 3.2).
// mode: write
// param $rows: list<map>: id, name, key
UNWIND $rows AS row
MERGE (k:KeyElement {id: row.id})
ON CREATE SET k.name = row.name,
              k.key = row.key
SET k:Pending

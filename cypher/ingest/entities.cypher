// Entities: one node per normalised name and type, with the label of the type if the schema has it.
// mode: write
// param $rows: list<map>: id, name, key, stem, nameWords, consonants, type, labels, inSchema
UNWIND $rows AS row
MERGE (e:Entity {id: row.id})
ON CREATE SET e.name = row.name,
              e.key = row.key,
              e.stem = row.stem,
              e.nameWords = row.nameWords,
              e.consonants = row.consonants,
              e.type = row.type,
              e.inSchema = row.inSchema,
              e:KeyElement
ON MATCH SET e.inSchema = e.inSchema OR row.inSchema
SET e:Pending
SET e:$(row.labels)

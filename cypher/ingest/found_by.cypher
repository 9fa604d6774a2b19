// The properties by which key elements are found, for those that an earlier version wrote. What it may have left half
// done is done again: the likenesses of what is pending, and all groups.
// mode: write
// param $rows: list<map>: id, stem, nameWords, consonants
UNWIND $rows AS row
MATCH (k:KeyElement {id: row.id})
SET k.stem = row.stem
FOREACH (_ IN CASE WHEN k:Entity THEN [1] ELSE [] END |
  SET k.nameWords = row.nameWords,
      k.consonants = row.consonants)
FOREACH (_ IN CASE WHEN k:Pending THEN [1] ELSE [] END | SET k.joinDue = true)
FOREACH (_ IN CASE WHEN EXISTS { (k)-[:FORM_OF|SAME_AS]-() } THEN [1] ELSE [] END | SET k:Pending)

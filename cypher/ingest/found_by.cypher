// The properties by which key elements are found, for those that an earlier version wrote. All are looked at again, and
// the likenesses of entities found again.
// mode: write
// param $rows: list<map>: id, stem, nameWords, consonants
UNWIND $rows AS row
MATCH (k:KeyElement {id: row.id})
SET k.stem = row.stem,
    k:Pending
FOREACH (_ IN CASE WHEN k:Entity THEN [1] ELSE [] END |
  SET k.nameWords = row.nameWords,
      k.consonants = row.consonants,
      k.joinDue = true)
FOREACH (likeness IN COLLECT { MATCH (k:Entity)-[old:SAME_AS]->(:Entity) RETURN old } | DELETE likeness)

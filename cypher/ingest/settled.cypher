// Entities and key elements that are complete, but for those that changed since they were read.
// mode: write
// param $rows: list<map>: id, mark: the mark that it had
UNWIND $rows AS row
MATCH (k:KeyElement {id: row.id, settling: row.mark})
REMOVE k:Pending, k.joinDue, k.settling

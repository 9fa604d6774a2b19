// Entities and key elements that are complete.
// mode: write
// param $ids: list<string>: node ids
UNWIND $ids AS id
MATCH (k:KeyElement {id: id})
REMOVE k:Pending, k.joinDue

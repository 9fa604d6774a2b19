// Key elements whose name, aliases or likenesses may have changed.
// mode: write
// param $ids: list<string>: key element ids
UNWIND $ids AS id
MATCH (k:KeyElement {id: id})
SET k:Pending

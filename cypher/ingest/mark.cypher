// Key elements that a pass is about to settle. A mark that is there stays: whatever changes an element takes it away,
// so that it tells for all passes whether an element is as it was read.
// mode: write
// param $ids: list<string>: key element ids
// param $mark: string: the pass's own mark
UNWIND $ids AS id
MATCH (k:KeyElement {id: id})
SET k:Pending
SET k.settling = coalesce(k.settling, $mark)

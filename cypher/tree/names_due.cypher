// Mark communities whose names a language model is to give.
// mode: write
// param $ids: list<string>: community ids
UNWIND $ids AS id
MATCH (c:Community {id: id})
SET c.nameDue = true

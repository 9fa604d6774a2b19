// Communities that the tree has seen as they are.
// mode: write
// param $ids: list<string>: community ids
UNWIND $ids AS id
MATCH (c:Community {id: id})
REMOVE c.treeDue

// Communities that the tree has seen as they are, unless they have lost entities again.
// mode: write
// param $ids: list<string>: community ids
// param $runs: int: how many runs there have been when they were read
UNWIND $ids AS id
MATCH (c:Community {id: id})
WHERE c.treeDue < $runs
REMOVE c.treeDue

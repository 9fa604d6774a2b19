// Entities that the tree has seen as they are, unless they have changed again.
// mode: write
// param $ids: list<string>: entity ids
// param $runs: int: how many runs there have been when they were read
UNWIND $ids AS id
MATCH (e:Entity {id: id})
WHERE e.treeDue < $runs
REMOVE e.treeDue

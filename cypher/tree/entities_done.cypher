// Entities that the tree has seen as they are.
// mode: write
// param $ids: list<string>: entity ids
UNWIND $ids AS id
MATCH (e:Entity {id: id})
REMOVE e.treeDue

// Likenesses of entities that are looked at again.
// mode: write
// param $ids: list<string>: entity ids
UNWIND $ids AS id
MATCH (:Entity {id: id})-[likeness:SAME_AS]-(:Entity)
DELETE likeness

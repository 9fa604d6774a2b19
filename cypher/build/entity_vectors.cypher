// Vectors of some entities.
// mode: read
// param $ids: list<string>: entity ids
// returns: id, vector
UNWIND $ids AS id
MATCH (e:Entity {id: id})
RETURN id, e.embedding AS vector

// The communities at the top of the tree that these entities are in, with their sizes.
// mode: read
// param $ids: list<string>: entity ids
// returns: id, top, size
UNWIND $ids AS id
MATCH (:Entity {id: id})-[:MEMBER_OF]->(:Community)-[:PARENT*0..]->(top:Community {depth: 0})
RETURN id, top.id AS top, top.size AS size

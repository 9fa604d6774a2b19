// The names of key elements that are forms of one thing, and how many passages mention each.
// mode: read
// param $ids: list<string>: key element ids
// returns: id, name, passages
UNWIND $ids AS id
MATCH (k:KeyElement {id: id})
RETURN id, k.name AS name, COUNT { (k)-[:FROM_CHUNK]->() } AS passages

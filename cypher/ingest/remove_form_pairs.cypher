// Likenesses by meaning of key elements that are looked at again; those of two entities are others.
// mode: write
// param $ids: list<string>: key element ids
UNWIND $ids AS id
MATCH (k:KeyElement {id: id})-[likeness:SAME_AS]-(o:KeyElement)
WHERE NOT (k:Entity AND o:Entity)
DELETE likeness

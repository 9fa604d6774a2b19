// Of entities that are to be read again, those that only passages which wait to be read mention: they lose what
// an earlier reading said of their type.
// mode: write
// param $ids: list<string>: entity ids
UNWIND $ids AS id
MATCH (e:Entity {id: id})
WHERE NOT EXISTS { (e)-[:FROM_CHUNK]->(:Chunk {state: 'extracted'}) }
SET e.inSchema = false
REMOVE e:$([label IN labels(e) WHERE NOT label IN ['Entity', 'KeyElement', 'Pending']])

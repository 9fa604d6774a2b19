// How many entities are in no community.
// mode: read
// returns: entities
RETURN COUNT { MATCH (e:Entity) WHERE NOT (e)-[:MEMBER_OF]->() } AS entities

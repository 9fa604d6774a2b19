// Whether any passage proposed a type for the schema.
// mode: read
// returns: found
RETURN EXISTS { (c:Chunk) WHERE c.proposals IS NOT NULL } AS found

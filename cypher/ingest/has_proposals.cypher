// Whether any passage proposed a type for the schema.
// mode: read
// returns: found
RETURN EXISTS { (:ProposedType) } AS found

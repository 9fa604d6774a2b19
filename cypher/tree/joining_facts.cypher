// How many facts join two entities.
// mode: read
// returns: facts
RETURN COUNT { ()-[:OBJECT]->() } AS facts

// How many entities there are, and how many of them an ingest has not finished.
// mode: read
// returns: entities, pending
RETURN COUNT { (:Entity) } AS entities, COUNT { (:Entity&Pending) } AS pending

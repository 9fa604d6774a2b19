// The id of the database, which tells it from all others.
// mode: read
// returns: id
CALL db.info() YIELD id
RETURN id

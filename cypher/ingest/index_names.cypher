// The indexes that there are; a constraint has one of its name.
// mode: read
// returns: name
SHOW INDEXES YIELD name
RETURN name

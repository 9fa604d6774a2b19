// How long the vectors are that the database has vector indexes for.
// mode: read
// returns: name, dimension
SHOW VECTOR INDEXES YIELD name, options
RETURN name, options.indexConfig['vector.dimensions'] AS dimension

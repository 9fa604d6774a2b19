// The vector index of KeyElement, before another embedding model fills it.
// mode: schema
DROP INDEX element_embedding IF EXISTS

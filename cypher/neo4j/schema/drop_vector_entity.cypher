// The vector index of Entity, before another embedding model fills it.
// mode: schema
DROP INDEX entity_embedding IF EXISTS

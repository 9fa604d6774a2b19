// The vector index of Fact, before another embedding model fills it.
// mode: schema
DROP INDEX fact_embedding IF EXISTS

// The vector index of Community, before another embedding model fills it.
// mode: schema
DROP INDEX community_embedding IF EXISTS

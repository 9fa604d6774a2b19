// The vector index of Page, before another embedding model fills it.
// mode: schema
DROP INDEX page_embedding IF EXISTS

// The vector index of Chunk, before another embedding model fills it.
// mode: schema
DROP INDEX chunk_embedding IF EXISTS

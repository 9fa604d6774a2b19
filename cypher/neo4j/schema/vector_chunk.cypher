// Passages by meaning. The options carry the dimension of the embedding model.
// mode: schema
// param $options: map: indexConfig of the vector index
CREATE VECTOR INDEX chunk_embedding IF NOT EXISTS
FOR (n:Chunk) ON (n.embedding)
OPTIONS $options

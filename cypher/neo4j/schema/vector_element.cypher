// Key elements that are not entities by meaning. The options carry the dimension of the embedding model.
// mode: schema
// param $options: map: indexConfig of the vector index
CREATE VECTOR INDEX element_embedding IF NOT EXISTS
FOR (n:KeyElement) ON (n.elementEmbedding)
OPTIONS $options

// Pages by the meaning of their gists. The options carry the dimension of the embedding model.
// mode: schema
// param $options: map: indexConfig of the vector index
CREATE VECTOR INDEX page_embedding IF NOT EXISTS
FOR (n:Page) ON (n.embedding)
OPTIONS $options

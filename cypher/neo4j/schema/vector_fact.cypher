// Facts by meaning. The options carry the dimension of the embedding model.
// mode: schema
// param $options: map: indexConfig of the vector index
CREATE VECTOR INDEX fact_embedding IF NOT EXISTS
FOR (n:Fact) ON (n.embedding)
OPTIONS $options

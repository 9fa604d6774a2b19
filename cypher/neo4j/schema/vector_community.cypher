// Communities by the meaning of their names and summaries. The options carry the dimension of the embedding model.
// mode: schema
// param $options: map: indexConfig of the vector index
CREATE VECTOR INDEX community_embedding IF NOT EXISTS
FOR (n:Community) ON (n.embedding)
OPTIONS $options

// Nodes that have a vector.
// mode: read
// returns: id
MATCH (n:Chunk|Fact|KeyElement|Community|Page)
WHERE n.embedding IS NOT NULL OR n.elementEmbedding IS NOT NULL
RETURN n.id AS id

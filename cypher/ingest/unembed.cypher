// Take the vectors away, some nodes at a time, so that they are computed again.
// mode: write
// param $limit: int: how many nodes at most
// returns: nodes
MATCH (n:Chunk|Fact|KeyElement|Community|Page)
WHERE n.embedding IS NOT NULL OR n.elementEmbedding IS NOT NULL
WITH n LIMIT $limit
REMOVE n.embedding, n.elementEmbedding
SET n:Pending
RETURN count(n) AS nodes

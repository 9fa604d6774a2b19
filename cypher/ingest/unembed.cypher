// Take the vectors of nodes away, so that they are computed again.
// mode: write
// param $ids: list<string>: node ids
UNWIND $ids AS id
MATCH (n:Chunk|Fact|KeyElement|Community|Page {id: id})
REMOVE n.embedding, n.elementEmbedding
SET n:Pending

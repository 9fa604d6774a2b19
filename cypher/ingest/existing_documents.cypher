// Those of some documents that are in the graph, with the passages that they have.
// mode: read
// param $ids: list<string>: document ids
// returns: id, name, sha256, passages
UNWIND $ids AS id
MATCH (d:Document {id: id})
RETURN d.id AS id, d.name AS name, d.sha256 AS sha256,
       COLLECT {
         MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d)
         RETURN [c.id, c.state]
       } AS passages

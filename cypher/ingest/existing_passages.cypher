// The documents of these files that are in the graph, with the passages that they have.
// mode: read
// param $sources: list<string>: URIs of files
// returns: id, name, sha256, passages
MATCH (d:Document)
WHERE d.source IN $sources
RETURN d.id AS id, d.name AS name, d.sha256 AS sha256,
       COLLECT {
         MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d)
         RETURN [c.id, c.state]
       } AS passages

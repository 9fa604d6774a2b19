// Those of some documents that are in the graph, with the passages that they have and their states: "unread" where
// a model's reply to the same request was of no use.
// mode: read
// param $ids: list<string>: document ids
// param $request: string: what passages would be asked with
// returns: id, name, sha256, modified, given, passages, properties
UNWIND $ids AS id
MATCH (d:Document {id: id})
RETURN d.id AS id, d.name AS name, d.sha256 AS sha256, d.modifiedAt AS modified, d.given AS given,
       COLLECT {
         MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d)
         RETURN [c.id, CASE WHEN c.state = 'failed' AND c.unreadBy = $request THEN 'unread' ELSE c.state END]
       } AS passages,
       [key IN keys(d) WHERE key STARTS WITH 'meta_' | [key, d[key]]] AS properties

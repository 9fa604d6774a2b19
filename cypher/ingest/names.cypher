// The names in these documents, and whether an entity with a type of the schema bears them.
// mode: read
// param $documents: list<string>: document ids
// returns: name, typed
UNWIND $documents AS id
MATCH (:Document {id: id})<-[:FROM_DOCUMENT]-(:Chunk)<-[:FROM_CHUNK]-(e:Entity)
WITH DISTINCT e
RETURN e.key AS name, max(CASE WHEN e.inSchema THEN 1 ELSE 0 END) = 1 AS typed

// The names in these documents, and how many of them no entity with a type of the schema bears.
// mode: read
// param $documents: list<string>: document ids
// returns: names, untyped
UNWIND $documents AS id
MATCH (:Document {id: id})<-[:FROM_DOCUMENT]-(:Chunk)<-[:FROM_CHUNK]-(e:Entity)
WITH DISTINCT e
WITH e.key AS name, max(CASE WHEN e.inSchema THEN 1 ELSE 0 END) AS typed
RETURN count(*) AS names, sum(1 - typed) AS untyped

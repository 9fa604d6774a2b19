// The properties of documents that are metadata.
// mode: read
// returns: name
MATCH (d:Document)
UNWIND keys(d) AS name
WITH DISTINCT name
WHERE name STARTS WITH 'meta_'
RETURN name
ORDER BY name

// How many documents the graph has of each of these files, and the text of the first.
// mode: read
// param $sources: list<string>: URIs of files
// returns: source, documents, sha256
UNWIND $sources AS source
MATCH (d:Document {source: source})
WITH source, d
ORDER BY d.uri
RETURN source, count(d) AS documents, head(collect(d.sha256)) AS sha256

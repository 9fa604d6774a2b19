// For each of these texts, some of the files whose documents have it and that are not gone.
// mode: read
// param $texts: list<string>: sha256 of texts
// param $gone: list<string>: URIs of files
// param $most: int: files for one text
// returns: sha256, sources
MATCH (d:Document)
WHERE d.sha256 IN $texts AND NOT d.source IN $gone
WITH d.sha256 AS sha256, d.source AS source
ORDER BY source
RETURN sha256, collect(DISTINCT source)[..$most] AS sources

// For each of these texts, one file whose document has it, of those that are not gone.
// mode: read
// param $texts: list<string>: sha256 of texts
// param $gone: list<string>: URIs of files
// returns: sha256, source
MATCH (d:Document)
WHERE d.sha256 IN $texts AND NOT d.source IN $gone
RETURN d.sha256 AS sha256, min(d.source) AS source

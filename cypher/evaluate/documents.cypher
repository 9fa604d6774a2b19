// Which texts the graph has, by name and content, and the files that they came from.
// mode: read
// returns: name, sha256, source
MATCH (d:Document)
RETURN d.name AS name, d.sha256 AS sha256, d.source AS source
ORDER BY name, sha256, source

// Documents by the hashes of their texts, as those have that were renamed.
// mode: read
// param $hashes: list<string>: hashes
// returns: sha256, uri
MATCH (d:Document)
WHERE d.sha256 IN $hashes
RETURN d.sha256 AS sha256, d.uri AS uri
ORDER BY uri DESC

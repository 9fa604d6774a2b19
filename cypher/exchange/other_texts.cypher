// Documents that the graph has with another text than a file.
// mode: read
// param $rows: list<map>: id, sha256
// returns: name
UNWIND $rows AS row
MATCH (d:Document {id: row.id})
WHERE d.sha256 <> row.sha256
RETURN d.name AS name
ORDER BY name

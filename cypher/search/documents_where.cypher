// The documents whose metadata fit: of each property one of the values that are asked for, or a list with one of them.
// mode: read
// param $where: list<map>: property, values
// returns: id, uri
MATCH (d:Document)
WHERE all(asked IN $where WHERE any(value IN [] + d[asked.property] WHERE value IN asked.values))
RETURN d.id AS id, d.uri AS uri
ORDER BY id

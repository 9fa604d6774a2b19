// The next documents by id.
// mode: read
// param $after: string: the id before them
// param $limit: int: how many
// returns: id
MATCH (d:Document)
WHERE d.id > $after
RETURN d.id AS id
ORDER BY id
LIMIT $limit

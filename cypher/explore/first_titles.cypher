// The first documents by title, from the index of titles.
// mode: read
// param $limit: int: how many
// returns: name
MATCH (d:Document)
WHERE d.key IS NOT NULL
RETURN d.name AS name
ORDER BY d.key
LIMIT $limit

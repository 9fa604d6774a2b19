// The largest communities that are in no other one.
// mode: read
// param $limit: int: how many
// returns: id, name, summary, size
MATCH (c:Community {depth: 0})
RETURN c.id AS id, c.name AS name, c.summary AS summary, c.size AS size
ORDER BY size DESC, name, id
LIMIT $limit

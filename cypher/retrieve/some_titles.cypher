// Titles of some documents.
// mode: read
// param $count: int: how many at most
// returns: title
MATCH (d:Document)
RETURN d.name AS title
LIMIT $count

// Communities of the tree, the outermost first, of one depth the largest first.
// mode: read
// param $depth: int: the deepest
// param $skip: int: how many come before them
// param $limit: int: how many communities
// returns: id, name, summary, kind, size, depth, score, children
MATCH (c:Community)
WHERE c.depth <= $depth
WITH c
ORDER BY c.depth, c.size DESC, c.id
SKIP $skip
LIMIT $limit
RETURN c.id AS id, c.name AS name, c.summary AS summary, 'Community' AS kind, c.size AS size, c.depth AS depth,
       null AS score, COUNT { (c)<-[:PARENT|KEYWORD_OF|MEMBER_OF]-() } AS children

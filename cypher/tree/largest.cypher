// The largest communities, with their keywords.
// mode: read
// param $limit: int: how many communities
// returns: id, name, nameBy, summary, depth, size, keywords
MATCH (c:Community)
WITH c
ORDER BY c.depth, c.size DESC, c.id
LIMIT $limit
RETURN c.id AS id, c.name AS name, c.nameBy AS nameBy, c.summary AS summary, c.depth AS depth, c.size AS size,
       COLLECT {
         MATCH (k:Keyword)-[:KEYWORD_OF]->(c)
         RETURN k.name
         ORDER BY k.score DESC, k.name
       } AS keywords

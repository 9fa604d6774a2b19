// What stands below a node of the tree: below a community the communities inside it, its keywords and its own members,
// below a keyword its entity, below an entity its attributes. One row if the node is there.
// mode: read
// param $id: string: id of a community, keyword or entity
// param $skip: int: how many come before those that are returned
// param $limit: int: how many are returned
// returns: below
MATCH (n:Community|Keyword|Entity {id: $id})
WITH n, COLLECT { MATCH (n)-[:KEYWORD_OF|MEMBER_OF]->(c:Community) RETURN c.depth ORDER BY c.depth }[0] AS above
RETURN COLLECT {
  CALL (n, above) {
    MATCH (n:Community)<-[:PARENT]-(c:Community)
    RETURN 1 AS part, c.size AS weight,
           {
             id: c.id, name: c.name, summary: c.summary, kind: 'Community', size: c.size, depth: c.depth, score: null,
             children: COUNT { (c)<-[:PARENT|KEYWORD_OF|MEMBER_OF]-() }
           } AS node
    UNION ALL
    MATCH (n:Community)<-[:KEYWORD_OF]-(k:Keyword)
    RETURN 2 AS part, k.score AS weight,
           {
             id: k.id, name: k.name, summary: '', kind: 'Keyword', size: 1, depth: n.depth + 1, score: k.score,
             children: COUNT { (k)<-[:REPRESENTED_BY]-() }
           } AS node
    UNION ALL
    MATCH (n:Community)<-[member:MEMBER_OF]-(e:Entity)
    RETURN 3 AS part, member.score AS weight,
           {
             id: e.id, name: e.name, summary: coalesce(e.type, ''), kind: 'Entity',
             size: COUNT { (e)<-[:SUBJECT|OBJECT]-() },
             depth: n.depth + 1, score: member.score, children: COUNT { (e)-[:HAS_ATTRIBUTE]->() }
           } AS node
    UNION ALL
    MATCH (n:Keyword)<-[:REPRESENTED_BY]-(e:Entity)
    RETURN 1 AS part, n.score AS weight,
           {
             id: e.id, name: e.name, summary: coalesce(e.type, ''), kind: 'Entity',
             size: COUNT { (e)<-[:SUBJECT|OBJECT]-() },
             depth: coalesce(above, 0) + 2, score: n.score, children: COUNT { (e)-[:HAS_ATTRIBUTE]->() }
           } AS node
    UNION ALL
    MATCH (n:Entity)-[:HAS_ATTRIBUTE]->(a:Attribute)
    RETURN 1 AS part, COUNT { (a)<-[:VALUE]-() } AS weight,
           {
             id: a.id, name: a.name, summary: a.value, kind: 'Attribute', size: COUNT { (a)<-[:VALUE]-() },
             depth: coalesce(above, 0) + 2, score: null, children: 0
           } AS node
  }
  RETURN node
  ORDER BY part, weight DESC, node.name, node.id
  SKIP $skip
  LIMIT $limit
} AS below

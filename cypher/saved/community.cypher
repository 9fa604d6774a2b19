// One community: its keywords and its members
// The largest community that has members of its own: its keywords, and its 25 most central members.
MATCH (c:Community)
WHERE EXISTS { (:Entity)-[:MEMBER_OF]->(c) }
ORDER BY c.size DESC, c.id
LIMIT 1
MATCH member = (e:Entity)-[belongs:MEMBER_OF]->(c)
ORDER BY belongs.score DESC, e.id
LIMIT 25
RETURN member, [keyword = (c)<-[:KEYWORD_OF]-(:Keyword)<-[:REPRESENTED_BY]-(:Entity) | keyword] AS keywords

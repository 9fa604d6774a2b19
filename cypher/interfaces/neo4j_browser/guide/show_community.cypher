// A community: its keywords, and its most central members.
// mode: read
// param $id: string: the community
// returns: member, keywords
MATCH (c:Community {id: $id})
MATCH member = (e:Entity)-[belongs:MEMBER_OF]->(:Community)-[:PARENT]->{0,9}(c)
RETURN member, [keyword = (c)<-[:KEYWORD_OF]-(:Keyword)<-[:REPRESENTED_BY]-(:Entity) | keyword] AS keywords
ORDER BY belongs.score DESC, e.id
LIMIT 30

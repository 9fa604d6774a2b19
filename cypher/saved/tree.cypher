// The knowledge tree from the top
// The ten largest communities, the communities inside them, and the keywords of each.
MATCH (top:Community {depth: 0})
ORDER BY top.size DESC, top.id
LIMIT 10
MATCH inside = (c:Community)-[:PARENT]->{0,9}(top)
RETURN inside, [keywords = (c)<-[:KEYWORD_OF]-(:Keyword) | keywords] AS keywords

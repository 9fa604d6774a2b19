// From a community down to an attribute
// All four levels: the community whose keywords have the most attributes, these keywords, the entities that they are,
// and what is known of those.
MATCH (c:Community)<-[:KEYWORD_OF]-(:Keyword)<-[:REPRESENTED_BY]-(:Entity)-[:HAS_ATTRIBUTE]->(a:Attribute)
WITH c, count(a) AS attributes
ORDER BY attributes DESC, c.size DESC, c.id
LIMIT 1
MATCH down = (c)<-[:KEYWORD_OF]-(:Keyword)<-[:REPRESENTED_BY]-(:Entity)-[:HAS_ATTRIBUTE]->(:Attribute)
RETURN down
LIMIT 50

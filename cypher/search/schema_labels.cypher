// How many nodes each of the platform's labels has, from counts that the database keeps.
// mode: read
// returns: label, count
MATCH (n:Document) RETURN 'Document' AS label, count(n) AS count
UNION ALL
MATCH (n:Chunk) RETURN 'Chunk' AS label, count(n) AS count
UNION ALL
MATCH (n:Fact) RETURN 'Fact' AS label, count(n) AS count
UNION ALL
MATCH (n:Entity) RETURN 'Entity' AS label, count(n) AS count
UNION ALL
MATCH (n:KeyElement) RETURN 'KeyElement' AS label, count(n) AS count
UNION ALL
MATCH (n:Attribute) RETURN 'Attribute' AS label, count(n) AS count
UNION ALL
MATCH (n:Community) RETURN 'Community' AS label, count(n) AS count
UNION ALL
MATCH (n:Keyword) RETURN 'Keyword' AS label, count(n) AS count
UNION ALL
MATCH (n:Page) RETURN 'Page' AS label, count(n) AS count

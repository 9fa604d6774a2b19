// The properties that 50 nodes of each label have, with the type of one value and its beginning. Left out are vectors
// and what only ingest looks at.
// mode: read
// returns: label, property, type, example
CALL () {
  MATCH (n:Document)
  WITH n
  LIMIT 50
  RETURN 'Document' AS label, n
  UNION ALL
  MATCH (n:Chunk)
  WITH n
  LIMIT 50
  RETURN 'Chunk' AS label, n
  UNION ALL
  MATCH (n:Fact)
  WITH n
  LIMIT 50
  RETURN 'Fact' AS label, n
  UNION ALL
  MATCH (n:Entity)
  WITH n
  LIMIT 50
  RETURN 'Entity' AS label, n
  UNION ALL
  MATCH (n:KeyElement)
  WITH n
  LIMIT 50
  RETURN 'KeyElement' AS label, n
  UNION ALL
  MATCH (n:Attribute)
  WITH n
  LIMIT 50
  RETURN 'Attribute' AS label, n
  UNION ALL
  MATCH (n:Community)
  WITH n
  LIMIT 50
  RETURN 'Community' AS label, n
  UNION ALL
  MATCH (n:Keyword)
  WITH n
  LIMIT 50
  RETURN 'Keyword' AS label, n
  UNION ALL
  MATCH (n:Page)
  WITH n
  LIMIT 50
  RETURN 'Page' AS label, n
}
UNWIND [key IN keys(n)
        WHERE NOT key IN ['embedding', 'elementEmbedding', 'nameWords', 'consonants', 'joinDue', 'treeDue', 'exact', 'alike']
] AS property
WITH label, property, collect(n[property])[0] AS value
RETURN label, property, valueType(value) AS type, left(coalesce(toStringOrNull(value), ''), 40) AS example
ORDER BY label, property

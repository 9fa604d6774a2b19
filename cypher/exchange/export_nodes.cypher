// Nodes of one kind in the order of their ids, each with the relationships that begin at it.
// mode: read
// param $kind: string: the label of the kind
// param $after: string: the last id of the page before
// param $limit: int: how many
// returns: id, labels, properties, relationships
CALL () {
  WITH $kind AS kind
  WHERE kind = 'Graph'
  MATCH (n:Graph)
  WHERE n.id > $after
  RETURN n
  ORDER BY n.id
  LIMIT $limit
UNION ALL
  WITH $kind AS kind
  WHERE kind = 'Document'
  MATCH (n:Document)
  WHERE n.id > $after
  RETURN n
  ORDER BY n.id
  LIMIT $limit
UNION ALL
  WITH $kind AS kind
  WHERE kind = 'Chunk'
  MATCH (n:Chunk)
  WHERE n.id > $after
  RETURN n
  ORDER BY n.id
  LIMIT $limit
UNION ALL
  WITH $kind AS kind
  WHERE kind = 'KeyElement'
  MATCH (n:KeyElement)
  WHERE n.id > $after
  RETURN n
  ORDER BY n.id
  LIMIT $limit
UNION ALL
  WITH $kind AS kind
  WHERE kind = 'Attribute'
  MATCH (n:Attribute)
  WHERE n.id > $after
  RETURN n
  ORDER BY n.id
  LIMIT $limit
UNION ALL
  WITH $kind AS kind
  WHERE kind = 'Fact'
  MATCH (n:Fact)
  WHERE n.id > $after
  RETURN n
  ORDER BY n.id
  LIMIT $limit
UNION ALL
  WITH $kind AS kind
  WHERE kind = 'Community'
  MATCH (n:Community)
  WHERE n.id > $after
  RETURN n
  ORDER BY n.id
  LIMIT $limit
UNION ALL
  WITH $kind AS kind
  WHERE kind = 'Keyword'
  MATCH (n:Keyword)
  WHERE n.id > $after
  RETURN n
  ORDER BY n.id
  LIMIT $limit
UNION ALL
  WITH $kind AS kind
  WHERE kind = 'Page'
  MATCH (n:Page)
  WHERE n.id > $after
  RETURN n
  ORDER BY n.id
  LIMIT $limit
UNION ALL
  WITH $kind AS kind
  WHERE kind = 'ProposedType'
  MATCH (n:ProposedType)
  WHERE n.id > $after
  RETURN n
  ORDER BY n.id
  LIMIT $limit
UNION ALL
  WITH $kind AS kind
  WHERE kind = 'Correction'
  MATCH (n:Correction)
  WHERE n.id > $after
  RETURN n
  ORDER BY n.id
  LIMIT $limit
UNION ALL
  WITH $kind AS kind
  WHERE kind = 'Run'
  MATCH (n:Run)
  WHERE n.id > $after
  RETURN n
  ORDER BY n.id
  LIMIT $limit
UNION ALL
  WITH $kind AS kind
  WHERE kind = 'Step'
  MATCH (n:Step)
  WHERE n.id > $after
  RETURN n
  ORDER BY n.id
  LIMIT $limit
}
RETURN n.id AS id, labels(n) AS labels, properties(n) AS properties,
       [(n)-[r]->(m:Graph|Document|Chunk|KeyElement|Attribute|Fact|Community|Keyword|Page|ProposedType|Correction|Run|Step)
        WHERE m.id > '' | [type(r), m.id, properties(r)]] AS relationships

// What is called like a text, by parts that each know their best: entities by the beginning and by the words of their
// names and aliases, key elements by the beginning, documents and communities by any part of their names.
// mode: read
// param $key: string: the text as a normalised name
// param $starts: list<string>: the text in the ways that a name may be written
// param $words: string: the text's words as a full-text query; empty if it has none
// param $typed: list<string>: ids of nodes that are called so but for accents, apostrophes and the like
// param $most: int: how many of each part are looked at
// param $limit: int: how many of each part are returned
// returns: id, name, labels, type, text, degree, key, score
CALL () {
  MATCH (e:Entity)
  WHERE e.key STARTS WITH $key
  WITH e
  LIMIT $most
  WITH e AS n, 0.0 AS score
  ORDER BY size(n.key) = size($key) DESC, COUNT { (n)--() } DESC, n.id
  LIMIT $limit
  RETURN n, score
  UNION ALL
  MATCH (g:Graph {id: 'graph'})
  WHERE g.schema IS NOT NULL AND $words <> ''
  CALL db.index.fulltext.queryNodes('entity_names', $words, {limit: $most}) YIELD node, score
  WITH node AS n, score
  ORDER BY score DESC, COUNT { (n)--() } DESC, n.id
  LIMIT $limit
  RETURN n, score
  UNION ALL
  UNWIND $starts AS start
  MATCH (k:KeyElement)
  WHERE k.name STARTS WITH start AND NOT k:Entity
  WITH k AS n, 0.0 AS score
  LIMIT $most
  ORDER BY size(n.name), COUNT { (n)--() } DESC, n.id
  LIMIT $limit
  RETURN n, score
  UNION ALL
  UNWIND $typed AS id
  MATCH (n:Entity {id: id})
  RETURN n, 0.0 AS score
  UNION ALL
  UNWIND $typed AS id
  MATCH (n:Document {id: id})
  RETURN n, 0.0 AS score
  UNION ALL
  MATCH (d:Document)
  WHERE d.key CONTAINS $key
  WITH d AS n, 0.0 AS score
  LIMIT $most
  ORDER BY size(n.key), n.id
  LIMIT $limit
  RETURN n, score
  UNION ALL
  MATCH (c:Community)
  WHERE toLower(c.name) CONTAINS $key
  WITH c AS n, 0.0 AS score
  ORDER BY n.size DESC, n.id
  LIMIT $limit
  RETURN n, score
}
WITH n, max(score) AS score
RETURN n.id AS id, n.name AS name, labels(n) AS labels, n.type AS type, left(coalesce(n.summary, ''), 300) AS text,
       COUNT { (n)--() } AS degree, coalesce(n.key, n.name) AS key, score

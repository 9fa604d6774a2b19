// Entities of passages, and documents, that have words as they were typed: their names are compared afterwards.
// mode: read
// param $typed: string: beginnings of words in one spelling, all of them, as a full-text query
// param $most: int: passages that are looked at
// returns: id, name
MATCH (g:Graph {id: 'graph'})
WHERE g.format >= 5
CALL db.index.fulltext.queryNodes('chunk_exact', $typed, {limit: $most}) YIELD node
CALL (node) {
  MATCH (node)<-[:FROM_CHUNK]-(n:Entity)
  RETURN n
  UNION
  MATCH (node)-[:FROM_DOCUMENT]->(n:Document)
  RETURN n
}
RETURN DISTINCT n.id AS id, n.name AS name

// Which passages have phrases as they were typed.
// mode: read
// param $phrases: list<string>: each as a full-text query
// param $most: int: passages of a phrase that are looked at
// returns: phrase, passages
MATCH (g:Graph {id: 'graph'})
WHERE g.format >= 5
UNWIND $phrases AS phrase
CALL (phrase) {
  CALL db.index.fulltext.queryNodes('chunk_exact', phrase, {limit: $most}) YIELD node
  RETURN collect(node.id) AS passages
}
RETURN phrase, passages

// Entities that a question names, then those whose names share words with it, the likest first; and what relations each
// has, the most frequent first.
// mode: read
// param $names: list<string>: normalised names, the runs of words of the question
// param $words: string: a full-text query of its words
// param $most: int: how many by their words
// param $relations: int: how many kinds of relations of each
// param $read: int: how many relations of each are looked at
// returns: name, named, label, relations
CALL () {
  MATCH (e:Entity)
  WHERE e.key IN $names
  RETURN e, true AS named, 0.0 AS score
  UNION ALL
  CALL db.index.fulltext.queryNodes('entity_names', $words, {limit: $most}) YIELD node, score
  RETURN node AS e, false AS named, score
}
WITH e, max(named) AS named, max(score) AS score,
     coalesce([label IN labels(e) WHERE NOT label IN ['Entity', 'KeyElement', 'Pending']][0], 'Entity') AS label
CALL (e) {
  MATCH (e)-[r]-(other:Entity)
  WHERE r.fact IS NOT NULL
  WITH r, other
  LIMIT $read
  WITH type(r) AS type, startNode(r) = e AS out,
       coalesce([each IN labels(other) WHERE NOT each IN ['Entity', 'KeyElement', 'Pending']][0], 'Entity') AS end,
       count(*) AS count
  ORDER BY count DESC, type, end, out
  LIMIT $relations
  RETURN collect({type: type, out: out, label: end, count: count}) AS relations
}
RETURN e.name AS name, named, label, relations
ORDER BY named DESC, score DESC, e.id

// Entities that a question names, then those whose names share words with it, the likest first.
// mode: read
// param $names: list<string>: normalised names, the runs of words of the question
// param $words: string: a full-text query of its words
// param $most: int: how many by their words
// returns: name, named, label
CALL () {
  MATCH (e:Entity)
  WHERE e.key IN $names
  RETURN e, true AS named, 0.0 AS score
  UNION ALL
  CALL db.index.fulltext.queryNodes('entity_names', $words, {limit: $most}) YIELD node, score
  RETURN node AS e, false AS named, score
}
WITH e, max(named) AS named, max(score) AS score
ORDER BY named DESC, score DESC, e.id
RETURN e.name AS name, named,
       coalesce([label IN labels(e) WHERE NOT label IN ['Entity', 'KeyElement', 'Pending']][0], 'Entity') AS label

// GraphReader's nodes that a text names: by one of their forms, or by words of an entity's names, the likest first.
// mode: read
// param $keys: list<string>: normalised names, the runs of words of the text
// param $names: list<string>: the same as they are written
// param $words: string: a full-text query of its words
// param $most: int: how many by their words
// param $documents: list<string>: ids of the documents that state them; null: all
// returns: name, key, named
CALL () {
  MATCH (e:Entity)
  WHERE e.key IN $keys
  RETURN e AS k, e.key AS key, 0.0 AS score
  UNION ALL
  MATCH (k:KeyElement)
  WHERE k.name IN $names
  RETURN k, toLower(k.name) AS key, 0.0 AS score
  UNION ALL
  CALL db.index.fulltext.queryNodes('entity_names', $words, {limit: $most}) YIELD node AS k, score
  RETURN k, '' AS key, score
}
MATCH (k)
WHERE EXISTS {
  MATCH (k)<-[:FORM_OF*0..1]-(:KeyElement)<-[:MENTIONS|SUBJECT|OBJECT]-(:Fact)-[:FROM_CHUNK {found: true}]->(c:Chunk)
  WHERE $documents IS NULL OR EXISTS { (c)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
}
OPTIONAL MATCH (k)-[:FORM_OF]->(r:KeyElement)
WITH coalesce(r.name, k.name) AS name, max(key) AS key, max(score) AS score
RETURN name, key, key <> '' AS named
ORDER BY named DESC, size(key) DESC, score DESC, name

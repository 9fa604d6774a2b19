// The nodes that stand for some ids: a fact of a triple or an attribute by what it joins, an atomic fact with its key
// elements, all else for itself. Ids that are not there are left out.
// mode: read
// param $ids: list<string>: ids of nodes
// returns: id, name, labels, type, text, degree
UNWIND range(0, size($ids) - 1) AS place
MATCH (n:KeyElement|Fact|Chunk|Document|Attribute|Keyword|Community|Page|Run|Step {id: $ids[place]})
CALL (n) {
  WITH n
  WHERE NOT n:Fact OR n.kind = 'atomic'
  RETURN n AS m
  UNION ALL
  MATCH (n:Fact)-[:SUBJECT|OBJECT|VALUE|MENTIONS]->(m)
  RETURN m
}
WITH m, min(place) AS place
RETURN m.id AS id, m.name AS name, labels(m) AS labels, m.type AS type,
       left(coalesce(m.text, m.summary, m.gist, m.value, m.answer, m.detail, ''), 300) AS text,
       COUNT { (m)--() } AS degree
ORDER BY place, id

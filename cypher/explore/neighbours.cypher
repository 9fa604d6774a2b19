// A node, and its neighbours, of each kind the strongest first. A key element's, and so an entity's: what it is related
// to, alike with or a form of, its attributes, passages and atomic facts, and its place in the tree. Of a hub only so
// many relationships of each sort are looked at. The node itself has no strength.
// mode: read
// param $id: string: the node's id
// param $kinds: list<string>: kinds of neighbours to return
// param $hub: int: how many relationships of a sort are looked at
// param $limit: int: how many neighbours of a kind
// returns: id, name, labels, type, text, degree, strength, total
MATCH (n:KeyElement|Fact|Chunk|Document|Attribute|Keyword|Community|Page|Run|Step {id: $id})
CALL (n) {
  RETURN n AS m, null AS strength, 1 AS total, -1 AS place
  UNION ALL
  CALL (n) {
    MATCH (n:Entity)<-[:SUBJECT|OBJECT]-(f:Fact)
    WITH n, f
    LIMIT $hub
    MATCH (f)-[:SUBJECT|OBJECT]->(m:Entity)
    WHERE m <> n
    RETURN m, 1.0 * COUNT { (f)-[:FROM_CHUNK]->() } AS strength
    UNION ALL
    MATCH (n:KeyElement)-[r:SAME_AS|FORM_OF]-(m:KeyElement)
    WITH m, r
    LIMIT $hub
    RETURN m, toFloat(r.score) AS strength
    UNION ALL
    MATCH (n:KeyElement)-[:HAS_ATTRIBUTE]->(m:Attribute)
    RETURN m, 1.0 AS strength
    LIMIT $hub
    UNION ALL
    MATCH (n:KeyElement)-[r:FROM_CHUNK]->(m:Chunk)
    WITH m, r
    LIMIT $hub
    RETURN m, toFloat(r.count) AS strength
    UNION ALL
    MATCH (n:KeyElement)<-[:MENTIONS]-(m:Fact)
    RETURN m, 1.0 AS strength
    LIMIT $hub
    UNION ALL
    MATCH (n:KeyElement)-[:MEMBER_OF|REPRESENTED_BY]->(m:Community|Keyword)
    RETURN m, 1.0 AS strength
    UNION ALL
    MATCH (n:Fact|Chunk|Document|Attribute|Keyword|Community|Page|Run|Step)-[r]-(m)
    WHERE m <> n AND NOT (n:Chunk AND m:Fact AND m.kind <> 'atomic') AND (n:Run OR n:Step OR NOT (m:Run OR m:Step))
    WITH m, r
    LIMIT $hub
    RETURN m, toFloat(coalesce(r.count, r.score, m.score, 1)) AS strength
  }
  WITH m, sum(strength) AS strength
  WITH m, strength,
       CASE WHEN m:Entity THEN 'Entity' ELSE head([label IN labels(m) WHERE label IN $kinds]) END AS kind
  WHERE kind IN $kinds
  WITH m, strength, kind
  ORDER BY strength DESC, coalesce(m.index, 0), coalesce(m.name, m.text, ''), m.id
  WITH kind, collect({node: m, strength: strength}) AS ranked
  WITH ranked[..$limit] AS best, size(ranked) AS total
  UNWIND range(0, size(best) - 1) AS place
  RETURN best[place].node AS m, best[place].strength AS strength, total, place
}
RETURN m.id AS id, m.name AS name, labels(m) AS labels, m.type AS type,
       left(coalesce(m.text, m.summary, m.gist, m.value, m.answer, m.detail, ''), 300) AS text,
       COUNT { (m)--() } AS degree, strength, total
ORDER BY place, id

// The neighbours of a node: the nodes that share a fact with it, the nearest to the question by meaning first.
// mode: read
// param $node: string: the node's name
// param $vector: list<float>: the question's vector
// param $count: int: how many
// param $documents: list<string>: ids of the documents that state them; null: all
// param $asOf: list<string>: the first day of a time, and the day after its last; what is said of other times stays out
// returns: nodes, name
MATCH (n:KeyElement {name: $node})
WHERE NOT EXISTS { (n)-[:FORM_OF]->(:KeyElement) }
MATCH (n)<-[:FORM_OF*0..1]-(:KeyElement)<-[:MENTIONS|SUBJECT|OBJECT]-(f:Fact)
WHERE EXISTS {
  MATCH (f)-[at:FROM_CHUNK {found: true}]->(c:Chunk)
  WHERE ($documents IS NULL OR EXISTS { (c)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents })
    AND coalesce(at.since, '') < $asOf[1] AND coalesce(at.until, '~') > $asOf[0]
}
WITH DISTINCT f
MATCH (f)-[:MENTIONS|SUBJECT|OBJECT]->(m:KeyElement)
OPTIONAL MATCH (m)-[:FORM_OF]->(r:KeyElement)
WITH coalesce(r.name, m.name) AS name, f, coalesce(m.embedding, m.elementEmbedding) AS embedding
WHERE name <> $node
WITH name, count(DISTINCT f) AS shared,
     max(CASE WHEN embedding IS NULL THEN 0.0 ELSE vector.similarity.cosine(embedding, $vector) END) AS nearness
ORDER BY nearness DESC, shared DESC, name
WITH collect(name) AS names
UNWIND names[..$count] AS name
RETURN size(names) AS nodes, name

// What other documents say about the things that a fact mentions and a question does not name: the fact nearest to
// the question by meaning.
// mode: read
// param $fact: string: the fact's id
// param $question: string: the question
// param $vector: list<float>: the question's vector
// returns: bridge, fact
MATCH (one:Fact {id: $fact})-[:SUBJECT|OBJECT|MENTIONS]->(bridge:Entity)<-[:SUBJECT|OBJECT|MENTIONS]-(two:Fact)
WHERE two.embedding IS NOT NULL
  AND NOT toLower($question) CONTAINS toLower(bridge.name)
  AND NOT EXISTS {
    MATCH (one)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(:Document)<-[:FROM_DOCUMENT]-(:Chunk)<-[:FROM_CHUNK]-(two)
  }
RETURN bridge.name AS bridge, two.id AS fact
ORDER BY vector.similarity.cosine(two.embedding, $vector) DESC, fact
LIMIT 1

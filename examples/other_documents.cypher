// What other documents state about the things that a fact mentions and a question does not name.
// mode: read
// param $fact: string: the fact's id
// param $question: string: the question
// returns: bridge, fact, text
MATCH (one:Fact {id: $fact})-[:SUBJECT|OBJECT|MENTIONS]->(bridge:Entity)<-[:SUBJECT|OBJECT|MENTIONS]-(two:Fact)
WHERE NOT toLower($question) CONTAINS toLower(bridge.name)
  AND NOT EXISTS {
    MATCH (one)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(document:Document)
    MATCH (two)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(document)
  }
RETURN bridge.name AS bridge, two.id AS fact, two.text AS text
ORDER BY fact, bridge

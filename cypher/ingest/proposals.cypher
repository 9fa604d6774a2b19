// Who proposed these types for the schema, and is sure of it.
// mode: read
// param $types: list<string>: ids of proposed types
// param $threshold: float: least confidence
// returns: passage, document, kind, words, confidence, example
UNWIND $types AS id
MATCH (t:ProposedType {id: id})<-[p:PROPOSED]-(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
WHERE p.confidence >= $threshold
RETURN c.id AS passage, d.id AS document, t.kind AS kind, p.words AS words, p.confidence AS confidence,
       p.example AS example

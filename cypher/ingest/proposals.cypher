// Who proposed these types for the schema.
// mode: read
// param $types: list<string>: ids of proposed types
// returns: passage, document, kind, words, confidence, example
UNWIND $types AS id
MATCH (t:ProposedType {id: id})<-[p:PROPOSED]-(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
RETURN c.id AS passage, d.id AS document, t.kind AS kind, p.words AS words, p.confidence AS confidence,
       p.example AS example

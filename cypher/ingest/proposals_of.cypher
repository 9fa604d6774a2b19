// The types that these passages proposed for the schema.
// mode: read
// param $passages: list<string>: passage ids
// returns: passage, document, kind, words, confidence, example
UNWIND $passages AS id
MATCH (d:Document)<-[:FROM_DOCUMENT]-(c:Chunk {id: id})-[p:PROPOSED]->(t:ProposedType)
RETURN c.id AS passage, d.id AS document, t.kind AS kind, p.words AS words, p.confidence AS confidence,
       p.example AS example

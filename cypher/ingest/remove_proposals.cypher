// Take away what these passages proposed for the schema, and types that nothing proposes any more.
// mode: write
// param $passages: list<string>: passage ids
UNWIND $passages AS id
MATCH (:Chunk {id: id})-[p:PROPOSED]->(t:ProposedType)
DELETE p
WITH DISTINCT t
WHERE NOT EXISTS { (t)<-[:PROPOSED]-(:Chunk) }
DETACH DELETE t

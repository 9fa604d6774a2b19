// How many statements of these passages were found in their words, and how many not.
// mode: write
// param $passages: list<string>: passage ids
UNWIND $passages AS id
MATCH (c:Chunk {id: id})
SET c.found = COUNT { (:Fact)-[:FROM_CHUNK {found: true}]->(c) },
    c.notFound = COUNT { (:Fact)-[:FROM_CHUNK {found: false}]->(c) }

// How many statements of these chunks were found in their words, and how many not.
// mode: write
// param $chunks: list<string>: chunk ids
UNWIND $chunks AS id
MATCH (c:Chunk {id: id})
SET c.found = COUNT { (:Fact)-[:FROM_CHUNK {found: true}]->(c) },
    c.notFound = COUNT { (:Fact)-[:FROM_CHUNK {found: false}]->(c) }

// What a document states, in its order, with the characters that state it.
// mode: read
// param $id: string: the document
// returns: start, end, fact
MATCH (:Document {id: $id})<-[:FROM_DOCUMENT]-(:Chunk)<-[stated:FROM_CHUNK]-(f:Fact)
RETURN stated.start AS start, stated.end AS end, f.text AS fact
ORDER BY start, end, fact
LIMIT 100

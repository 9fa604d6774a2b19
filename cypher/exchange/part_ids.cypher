// Where the nodes are that documents speak of: themselves, their passages and pages, what those name and state, and the
// types that they propose. Pages for a single question stay out: it is somebody's.
// mode: read
// param $documents: list<string>: document ids
// returns: id, element
UNWIND $documents AS document
MATCH (d:Document {id: document})
CALL (d) {
  RETURN d AS n
  UNION
  MATCH (d)<-[:PAGE_OF]-(n:Page {question: ''})
  RETURN n
  UNION
  MATCH (d)<-[:FROM_DOCUMENT]-(n:Chunk)
  RETURN n
  UNION
  MATCH (d)<-[:FROM_DOCUMENT]-(:Chunk)<-[:FROM_CHUNK]-(n:KeyElement|Fact)
  RETURN n
  UNION
  MATCH (d)<-[:FROM_DOCUMENT]-(:Chunk)<-[:FROM_CHUNK]-(:Fact)-[:VALUE]->(n:Attribute)
  RETURN n
  UNION
  MATCH (d)<-[:FROM_DOCUMENT]-(:Chunk)-[:PROPOSED]->(n:ProposedType)
  RETURN n
  UNION
  MATCH (d)<-[:FROM_DOCUMENT]-(:Chunk)<-[:CORRECTS]-(n:Correction)
  RETURN n
}
RETURN DISTINCT n.id AS id, elementId(n) AS element

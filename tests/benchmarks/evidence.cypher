// Pieces of evidence that the graph holds for facts with subject, predicate and object.
MATCH (:Fact {kind: 'triple'})-[evidence:FROM_CHUNK]->(:Chunk)
RETURN count(evidence) AS evidence

// How large the graph is, from Neo4j's own counts.
// mode: read
// returns: chunks, facts
RETURN COUNT { (:Chunk) } AS chunks, COUNT { (:Fact) } AS facts

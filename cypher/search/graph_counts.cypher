// How large the graph is, from counts that the database keeps: tells whether anything came or went. The jobs
// of servers, and passes that write, do not count.
// mode: read
// returns: nodes, relationships, entities, facts, changed
CALL () {
  MATCH (n)
  RETURN count(n) AS every
}
CALL () {
  MATCH (j:ServerJob)
  RETURN count(j) AS jobs
}
CALL () {
  MATCH (p:WritePass)
  RETURN count(p) AS passes
}
CALL () {
  MATCH ()-[r]->()
  RETURN count(r) AS relationships
}
CALL () {
  MATCH (e:Entity)
  RETURN count(e) AS entities
}
CALL () {
  MATCH (f:Fact)
  RETURN count(f) AS facts
}
CALL () {
  MATCH (d:Document)
  RETURN toString(max(d.addedAt)) AS changed
}
RETURN every - jobs - passes AS nodes, relationships, entities, facts, changed

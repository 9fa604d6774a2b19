// Whether the database has nothing but the node that describes the graph.
// mode: read
// returns: empty
RETURN NOT EXISTS {
  MATCH (n)
  WHERE NOT n:Graph
} AS empty

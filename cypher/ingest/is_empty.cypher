// Whether the database has nothing but the node that describes the graph, and passes that write.
// mode: read
// returns: empty
RETURN NOT EXISTS {
  MATCH (n)
  WHERE NOT n:Graph AND NOT n:WritePass
} AS empty

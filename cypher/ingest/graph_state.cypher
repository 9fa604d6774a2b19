// What the graph knows about itself: format, embedding model, schema with its expansions.
// mode: read
// returns: graph
MATCH (g:Graph {id: 'graph'})
RETURN properties(g) AS graph

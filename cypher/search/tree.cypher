// Whether the graph has a finished knowledge tree: one row if so.
// mode: read
// returns: method
MATCH (g:Graph {id: 'graph', treeState: 'complete'})
RETURN g.treeMethod AS method

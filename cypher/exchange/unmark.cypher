// The import is finished: no mark of it stays.
// mode: write
MATCH (g:Graph {id: 'graph'})
REMOVE g.importing, g.imported

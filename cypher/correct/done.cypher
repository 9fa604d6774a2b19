// All passages are corrected.
// mode: write
MATCH (g:Graph {id: 'graph'})
REMOVE g.correctDue

// Record what the graph knows about itself.
// mode: write
// param $state: map: properties to set
MERGE (g:Graph {id: 'graph'})
ON CREATE SET g.createdAt = datetime()
SET g += $state

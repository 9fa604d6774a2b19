// What the graph knows about itself, as a file has it and nothing else: the import is finished.
// mode: write
// param $labels: list<string>: further labels
// param $properties: map: all properties
MATCH (g:Graph {id: 'graph'})
SET g = $properties
SET g:$($labels)

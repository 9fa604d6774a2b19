// A correction.
// mode: write
// param $id: string: its id
// param $properties: map: its other properties
MERGE (x:Correction {id: $id})
SET x = $properties, x.id = $id

// A pass is over. The last one takes the gate with it.
// mode: write
// param $id: string: the pass
MERGE (gate:WritePass {id: 'gate'})
SET gate.tickets = coalesce(gate.tickets, 0)
WITH gate
CALL () {
  MATCH (me:WritePass {id: $id})
  DELETE me
}
WITH gate
WHERE NOT EXISTS { MATCH (other:WritePass) WHERE other.id <> 'gate' }
DELETE gate

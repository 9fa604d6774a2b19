// Give the gate back.
// mode: write
// param $lease: string: the token by which it is held
MATCH (gate:ServerJob {id: 'gate', lease: $lease})
REMOVE gate.lease, gate.leaseUntil

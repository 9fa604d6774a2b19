// A sign of life of a pass.
// mode: write
// param $id: string: the pass
// param $seconds: int: how long it counts from now
MATCH (me:WritePass {id: $id})
SET me.until = datetime.realtime() + duration({seconds: $seconds})

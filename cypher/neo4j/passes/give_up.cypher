// A pass that was alone goes on beside others.
// mode: write
// param $id: string: the pass
// param $turn: string: what it has now, "shared" or "beside"
MATCH (me:WritePass {id: $id})
SET me.has = $turn

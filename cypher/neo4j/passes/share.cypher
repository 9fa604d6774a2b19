// A pass that was alone goes on beside others.
// mode: write
// param $id: string: the pass
MATCH (me:WritePass {id: $id})
SET me.has = 'shared'

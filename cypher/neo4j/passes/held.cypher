// Whether a pass still counts; nobody can take that from it before the transaction is over.
// mode: write
// param $id: string: the pass
// returns: id
MATCH (me:WritePass {id: $id})
SET me.writing = true
RETURN me.id AS id

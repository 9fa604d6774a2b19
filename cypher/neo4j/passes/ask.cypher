// A pass asks for its turn and has it, or gets to know for whom it waits. Passes ask one after the other, since all go
// through one node, the gate. Who asked earlier goes first, but a pass that has begun goes before what cannot begin
// while it lasts, and before what waits behind that.
// mode: write
// param $id: string: the pass
// param $kind: string: what it does, such as "ingest"
// param $who: string: the process, in words
// param $turn: string: what it wants: "alone", "shared" (beside others that share) or "beside" (whatever others have)
// param $excludes: list<string>: kinds of passes that must not be under way, not even between two turns
// param $gone: list<string>: passes that are known to be over
// param $seconds: int: how long it counts without a sign of life
// returns: id, kind, who
MERGE (gate:WritePass {id: 'gate'})
SET gate.tickets = coalesce(gate.tickets, 0) + 1
WITH gate
CALL () {
  MATCH (old:WritePass)
  WHERE old.id <> $id AND (old.id IN $gone OR old.until < datetime.realtime())
  DELETE old
}
MERGE (me:WritePass {id: $id})
ON CREATE SET me.kind = $kind, me.who = $who, me.excludes = $excludes, me.begun = false
SET me.until = datetime.realtime() + duration({seconds: $seconds}),
    me.ticket = coalesce(me.ticket, gate.tickets),
    me.wants = $turn
REMOVE me.has
WITH me
CALL () {
  MATCH (stuck:WritePass)
  WHERE stuck.wants IS NOT NULL AND NOT stuck.begun
    AND EXISTS { MATCH (other:WritePass) WHERE other.begun AND other.kind IN stuck.excludes }
  RETURN min(stuck.ticket) AS stuck
}
CALL (me, stuck) {
  MATCH (other:WritePass)
  WHERE other <> me AND other.id <> 'gate'
    AND (
      other.has = 'alone' AND me.wants <> 'beside' OR other.has = 'shared' AND me.wants = 'alone'
      OR other.begun AND other.kind IN $excludes
      OR (
        other.wants IS NOT NULL AND other.ticket < me.ticket
        AND (NOT me.begun OR other.begun OR stuck IS NULL OR other.ticket < stuck)
        AND (
          'alone' IN [me.wants, other.wants] AND NOT 'beside' IN [me.wants, other.wants]
          OR other.kind IN $excludes OR $kind IN other.excludes
        )
      )
    )
  RETURN collect(other) AS before
}
FOREACH (_ IN CASE WHEN size(before) = 0 THEN [1] ELSE [] END |
  SET me.has = me.wants, me.begun = true
  REMOVE me.wants, me.ticket
)
WITH before
UNWIND before AS other
RETURN other.id AS id, other.kind AS kind, other.who AS who
ORDER BY other.has IS NULL, other.ticket, id

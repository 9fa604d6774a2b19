// Whether another pass could begin or go on if this one, which shares, let it.
// mode: read
// param $id: string: the pass
// returns: waits
CALL () {
  MATCH (stuck:WritePass)
  WHERE stuck.wants IS NOT NULL AND NOT stuck.begun
    AND EXISTS { MATCH (other:WritePass) WHERE other.begun AND other.kind IN stuck.excludes }
  RETURN min(stuck.ticket) AS stuck
}
RETURN EXISTS {
  MATCH (other:WritePass)
  WHERE other.id <> $id AND other.wants = 'alone' AND (other.begun OR stuck IS NULL OR other.ticket < stuck)
} AS waits

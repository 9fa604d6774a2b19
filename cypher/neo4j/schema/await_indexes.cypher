// Wait until every index is online.
// mode: schema
// param $seconds: int: how long to wait at most
CALL db.awaitIndexes($seconds)

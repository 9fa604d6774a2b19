// Nothing: the server tells with the answer after which transaction it was given.
// mode: read
// returns: nothing
RETURN null AS nothing

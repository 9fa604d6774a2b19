// How many relationships each type has.
// mode: read
// returns: type, count
MATCH ()-[r]->()
RETURN type(r) AS type, count(*) AS count
ORDER BY type

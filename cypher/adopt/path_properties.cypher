// What the relationships of each type have.
// mode: read
// returns: type, name, types, count
MATCH ()-[r]->()
UNWIND keys(r) AS name
RETURN type(r) AS type, name, collect(DISTINCT valueType(r[name])) AS types, count(*) AS count

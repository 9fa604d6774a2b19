// How many relations of each type there are between entities of which types, the most frequent first.
// mode: read
// returns: head, type, tail, count
MATCH (a:Entity)-[r]->(b:Entity)
WHERE r.fact IS NOT NULL
RETURN a.type AS head, type(r) AS type, b.type AS tail, count(*) AS count
ORDER BY count DESC, type, head, tail

// Communities that have lost entities, each with the one at the top that it is in.
// mode: read
// returns: id, top, size
MATCH (c:Community)
WHERE c.treeDue IS NOT NULL
MATCH (c)-[:PARENT*0..]->(top:Community {depth: 0})
RETURN c.id AS id, top.id AS top, top.size AS size

// What joins two entities
// Of the ten entities with the most facts, the two that are farthest apart, and the shortest ways between them.
MATCH (e:Entity)
ORDER BY COUNT { (e)<-[:SUBJECT|OBJECT|MENTIONS]-(:Fact) } DESC, e.id
LIMIT 10
WITH collect(e) AS hubs
UNWIND hubs AS a
UNWIND hubs AS b
WITH a, b
WHERE a.id < b.id
MATCH way = shortestPath((a)-[:SUBJECT|OBJECT|MENTIONS*..12]-(b))
WITH a, b
ORDER BY length(way) DESC, a.id, b.id
LIMIT 1
MATCH ways = allShortestPaths((a)-[:SUBJECT|OBJECT|MENTIONS*..12]-(b))
RETURN ways
LIMIT 20

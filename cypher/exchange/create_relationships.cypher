// Relationships as a file has them, and how much of the file is done; nothing if another import has done that.
// mode: write
// param $done: int: elements of the file before these
// param $count: int: how many of the file are done with them
// param $rows: list<map>: start, end, type, properties
// returns: written
MATCH (g:Graph {id: 'graph'})
SET g.importing = g.importing
WITH g
WHERE g.imported = $done
SET g.imported = $done + $count
WITH g
UNWIND $rows AS row
MATCH (a)
WHERE elementId(a) = row.start
MATCH (b)
WHERE elementId(b) = row.end
CREATE (a)-[r:$(row.type)]->(b)
SET r = row.properties
RETURN count(r) AS written

// Relationships of a file that are not in the graph yet: none of that type and with that key joins the two nodes.
// mode: write
// param $done: int: elements of the file before these
// param $count: int: how many of the file are done with them
// param $rows: list<map>: start, end, type, properties, key, value
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
  AND NOT EXISTS {
    MATCH (a)-[old]->(b)
    WHERE type(old) = row.type AND coalesce(old[row.key] = row.value, row.key = '')
  }
CREATE (a)-[r:$(row.type)]->(b)
SET r = row.properties
RETURN count(r) AS written

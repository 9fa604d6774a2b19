// Nodes as a file has them, and how much of the file is done; nothing if another import has done that meanwhile. Vectors
// are stored as an ingest stores them: in half the room, and comparing to the same digits.
// mode: write
// param $done: int: elements of the file before these
// param $count: int: how many of the file are done with them
// param $rows: list<map>: labels, properties, vectors: by property
// returns: written
MATCH (g:Graph {id: 'graph'})
SET g.importing = g.importing
WITH g
WHERE g.imported = $done
SET g.imported = $done + $count
WITH g
UNWIND $rows AS row
CREATE (n:$(row.labels))
SET n = row.properties
WITH n, row
CALL (n, row) {
  UNWIND keys(row.vectors) AS name
  CALL db.create.setNodeVectorProperty(n, name, row.vectors[name])
}
RETURN count(n) AS written

// Nodes of a Cypher script, in which the rows stand as a literal.
// mode: write
// param $rows: list<map>: labels, properties
UNWIND $rows AS row
CREATE (n:$(row.labels))
SET n = row.properties

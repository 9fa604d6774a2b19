// Which community a community is a part of.
// mode: write
// param $rows: list<map>: id, parent: community ids
UNWIND $rows AS row
MATCH (c:Community {id: row.id})
MATCH (parent:Community {id: row.parent})
OPTIONAL MATCH (c)-[old:PARENT]->(:Community)
DELETE old
WITH DISTINCT c, parent
CREATE (c)-[:PARENT]->(parent)

// Relationships of a Cypher script, in which the rows stand as a literal.
// mode: write
// param $rows: list<map>: start, end, type, properties
UNWIND $rows AS row
MATCH (a:Graph|Document|Chunk|KeyElement|Attribute|Fact|Community|Keyword|Page|Run|Step {id: row.start})
MATCH (b:Graph|Document|Chunk|KeyElement|Attribute|Fact|Community|Keyword|Page|Run|Step {id: row.end})
CREATE (a)-[r:$(row.type)]->(b)
SET r = row.properties

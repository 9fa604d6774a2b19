// The one community that each of these entities is in, with the score that it has there. The signature tells later
// whether what the graph says of the entity has changed.
// mode: write
// param $rows: list<map>: id, community, score, signature
UNWIND $rows AS row
MATCH (e:Entity {id: row.id})
MATCH (c:Community {id: row.community})
OPTIONAL MATCH (e)-[old:MEMBER_OF]->(:Community)
DELETE old
WITH DISTINCT e, c, row
CREATE (e)-[:MEMBER_OF {score: row.score, signature: row.signature}]->(c)

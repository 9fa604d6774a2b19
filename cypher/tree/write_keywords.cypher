// Keywords, level 3 of the tree: the entities that stand for a community.
// mode: write
// param $rows: list<map>: id, name, score, entity, community
UNWIND $rows AS row
MATCH (e:Entity {id: row.entity})
MATCH (c:Community {id: row.community})
MERGE (k:Keyword {id: row.id})
SET k.name = row.name,
    k.score = row.score,
    k.level = 3
MERGE (k)-[:KEYWORD_OF]->(c)
MERGE (e)-[:REPRESENTED_BY]->(k)

// Take communities away, with their keywords.
// mode: write
// param $ids: list<string>: community ids
UNWIND $ids AS id
MATCH (c:Community {id: id})
OPTIONAL MATCH (k:Keyword)-[:KEYWORD_OF]->(c)
DETACH DELETE k, c

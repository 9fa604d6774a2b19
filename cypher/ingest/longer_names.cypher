// Entities with all words of these names and one more, of those whose likenesses are known: others find the shorter.
// mode: read
// param $rows: list<map>: id, query: of the full-text index
// returns: id, other, key
UNWIND $rows AS row
CALL db.index.fulltext.queryNodes('entity_words', row.query) YIELD node
WHERE node.joinDue IS NULL
RETURN row.id AS id, node.id AS other, node.key AS key

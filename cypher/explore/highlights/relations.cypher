// The relationship types between entities, the most frequent first, but for likely duplicates and forms of one word.
// mode: read
// param $limit: int: how many
// returns: type, count
MATCH (:Entity)-[r]->(:Entity)
WHERE NOT type(r) IN ['SAME_AS', 'FORM_OF']
RETURN type(r) AS type, count(*) AS count
ORDER BY count DESC, type
LIMIT $limit

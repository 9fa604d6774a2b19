// The communities of the tree, with what is known of each and the scores of its keywords by their ids.
// mode: read
// returns: id, depth, parent, size, center, nameDue, nameBy, keywords
MATCH (c:Community)
OPTIONAL MATCH (c)-[:PARENT]->(parent:Community)
RETURN c.id AS id, c.depth AS depth, parent.id AS parent, c.size AS size, c.center AS center,
       coalesce(c.nameDue, false) AS nameDue, c.nameBy AS nameBy,
       COLLECT {
         MATCH (k:Keyword)-[:KEYWORD_OF]->(c)
         RETURN [k.id, k.score]
       } AS keywords

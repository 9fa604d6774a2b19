// These communities and all inside them, with what is known of each and the scores of its keywords by their ids.
// mode: read
// param $tops: list<string>: community ids
// returns: id, depth, parent, size, center, nameDue, nameBy, keywords
UNWIND $tops AS top
MATCH (:Community {id: top})<-[:PARENT*0..]-(c:Community)
OPTIONAL MATCH (c)-[:PARENT]->(parent:Community)
RETURN c.id AS id, c.depth AS depth, parent.id AS parent, c.size AS size, c.center AS center,
       coalesce(c.nameDue, false) AS nameDue, c.nameBy AS nameBy,
       COLLECT {
         MATCH (k:Keyword)-[:KEYWORD_OF]->(c)
         RETURN [k.id, k.score]
       } AS keywords

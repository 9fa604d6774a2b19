// How many communities there are at each depth, the top first, and how many keywords; how many communities have names
// that a model could give but did not, and of how many these names are due.
// mode: read
// returns: depths, keywords, unnamed, namesDue
RETURN COLLECT {
         MATCH (c:Community)
         WITH c.depth AS depth, count(*) AS communities
         ORDER BY depth
         RETURN communities
       } AS depths,
       COUNT { (:Keyword) } AS keywords,
       COUNT { MATCH (c:Community) WHERE c.size > 1 AND c.nameBy <> 'model' } AS unnamed,
       COUNT { MATCH (c:Community) WHERE c.nameDue } AS namesDue

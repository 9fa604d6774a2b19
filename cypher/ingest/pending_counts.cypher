// How many nodes of each kind are not complete.
// mode: read
// returns: entities, elements, passages, facts, communities, pages
MATCH (n:Pending)
RETURN sum(toInteger(n:Entity)) AS entities,
       sum(toInteger(n:KeyElement AND NOT n:Entity)) AS elements,
       sum(toInteger(n:Chunk)) AS passages,
       sum(toInteger(n:Fact)) AS facts,
       sum(toInteger(n:Community)) AS communities,
       sum(toInteger(n:Page AND n.gist IS NOT NULL)) AS pages

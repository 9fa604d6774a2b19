// Entities of some types with their other forms and the names of what is likely the same thing.
// mode: read
// param $types: list<string>: names of entity types
// returns: name, type, aliases, chunks, same
MATCH (e:Entity)
WHERE e.type IN $types
RETURN e.name AS name, e.type AS type, coalesce(e.aliases, []) AS aliases,
       COUNT { (e)-[:FROM_CHUNK]->(:Chunk) } AS chunks,
       COLLECT {
         MATCH (e)-[:SAME_AS]-(o:Entity)
         WHERE o.type = e.type
         RETURN DISTINCT o.name AS other
         ORDER BY other
       } AS same
ORDER BY e.id

// Entities of some types, and those without a type, with their forms and the names of what is likely the same thing.
// mode: read
// param $types: list<string>: names of entity types
// returns: name, type, forms, passages, same
MATCH (e:Entity)
WHERE e.type IN $types OR e.type IS NULL
RETURN e.name AS name, e.type AS type,
       coalesce(e.aliases, []) + COLLECT {
         MATCH (e)-[mention:FROM_CHUNK]->(:Chunk)
         UNWIND coalesce(mention.names, []) AS form
         WITH DISTINCT form
         WHERE form <> e.name AND NOT form IN coalesce(e.aliases, [])
         RETURN form
         ORDER BY form
       } AS forms,
       COUNT { (e)-[:FROM_CHUNK]->(:Chunk) } AS passages,
       COLLECT {
         MATCH (e)-[:SAME_AS]-(o:Entity)
         WHERE o.type IN $types OR o.type IS NULL
         RETURN DISTINCT o.name AS other
         ORDER BY other
       } AS same
ORDER BY e.id

// Entities and key elements whose likenesses may have changed: those with a new vector (due), and entities, with what
// the passages that name them say of two names (ends, why, characters, passage), and what they were joined by for that.
// mode: read
// returns: id, key, type, isEntity, due, passages, said, joined
MATCH (k:KeyElement:Pending)
USING SCAN k:Pending
WHERE k.joinDue OR k:Entity
RETURN k.id AS id, k.key AS key, k.type AS type, k:Entity AS isEntity, coalesce(k.joinDue, false) AS due,
       COUNT { (k)-[:FROM_CHUNK]->() } AS passages,
       COLLECT {
         MATCH (k:Entity)-[:FROM_CHUNK]->(c:Chunk)
         WHERE c.alike IS NOT NULL
         UNWIND c.alike AS told
         WITH c, split(told, ' ') AS told
         WHERE k.id IN told[..2]
         RETURN told + c.id
       } AS said,
       COLLECT {
         MATCH (k:Entity)-[likeness:SAME_AS]-(o:Entity)
         WHERE likeness.passage IS NOT NULL
         RETURN [o.id, o.key, o.type]
       } AS joined

// Entities and key elements whose name, aliases or likenesses may have changed, with how many passages use which name.
// mode: read
// returns: id, isEntity, name, stem, aliased, embedded, names
MATCH (k:KeyElement:Pending)
USING SCAN k:Pending
RETURN k.id AS id, k:Entity AS isEntity, k.name AS name, k.stem AS stem, k.aliases IS NOT NULL AS aliased,
       coalesce(k.embedding, k.elementEmbedding) IS NOT NULL AS embedded,
       COLLECT {
         MATCH (k)-[mention:FROM_CHUNK]->(:Chunk)
         UNWIND mention.names AS form
         WITH form, count(*) AS times
         RETURN [form, times]
       } AS names

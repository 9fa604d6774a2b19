// Entities and key elements whose name, aliases or likenesses may have changed, with how many passages use which name,
// but for those that were changed since the pass began: they are settled after that.
// mode: read
// returns: id, mark, isEntity, name, aliased, embedded, names
MATCH (k:KeyElement:Pending)
USING SCAN k:Pending
WHERE k.settling IS NOT NULL
RETURN k.id AS id, k.settling AS mark, k:Entity AS isEntity, k.name AS name, k.aliases IS NOT NULL AS aliased,
       coalesce(k.embedding, k.elementEmbedding) IS NOT NULL AS embedded,
       COLLECT {
         MATCH (k)-[mention:FROM_CHUNK]->(:Chunk)
         UNWIND mention.names AS form
         WITH form, count(*) AS times
         RETURN [form, times]
       } AS names

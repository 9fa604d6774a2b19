// A document with its passages, and the entities that they name most.
// mode: read
// param $id: string: the document
// returns: passage, named
MATCH passage = (:Document {id: $id})<-[:FROM_DOCUMENT]-(c:Chunk)
WITH passage, c
ORDER BY c.index
LIMIT 10
RETURN passage, COLLECT {
  MATCH named = (e:Entity)-[names:FROM_CHUNK]->(c)
  RETURN named
  ORDER BY names.count DESC, e.id
  LIMIT 8
} AS named

// Route triple: facts nearest by meaning, with the entities and key elements that they are about.
// Facts whose words no passage has stay out, here and in the other routes.
// mode: read
// param $k: int: how many
// param $vector: list<float>: the question's vector
// param $asOf: list<string>: the first day of a time, and the day after its last; what is said of other times stays out
// returns: facts
// each: id, cosine, elements, passages
CALL db.index.vector.queryNodes('fact_embedding', $k + 100, $vector) YIELD node AS f, score
WHERE EXISTS {
  (f)-[at:FROM_CHUNK {found: true}]->()
  WHERE coalesce(at.since, '') < $asOf[1] AND coalesce(at.until, '~') > $asOf[0]
}
WITH f, f.id AS id, 2 * score - 1 AS cosine
ORDER BY cosine DESC, id
LIMIT $k
RETURN collect([
         id,
         cosine,
         COLLECT { MATCH (f)-[:SUBJECT|OBJECT|MENTIONS]->(k:KeyElement) RETURN k.id ORDER BY k.id },
         COLLECT { MATCH (f)-[:FROM_CHUNK]->(c:Chunk) RETURN c.id ORDER BY c.id }
       ]) AS facts

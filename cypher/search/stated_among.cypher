// Facts of some documents nearest by meaning, among those nearest in the whole graph, with the passages of these
// documents that have their words.
// mode: read
// param $k: int: how many
// param $among: int: how many the index is asked for
// param $documents: list<string>: document ids
// param $vector: list<float>: the question's vector
// param $asOf: list<string>: the first day of a time, and the day after its last; what is said of other times stays out
// returns: id, cosine, passages
CALL db.index.vector.queryNodes('fact_embedding', $among, $vector) YIELD node AS f, score
WITH f, score, COLLECT {
       MATCH (f)-[at:FROM_CHUNK {found: true}]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
       WHERE d.id IN $documents AND coalesce(at.since, '') < $asOf[1] AND coalesce(at.until, '~') > $asOf[0]
       RETURN c.id ORDER BY c.id
     } AS passages
WHERE size(passages) > 0
RETURN f.id AS id, 2 * score - 1 AS cosine, passages
ORDER BY cosine DESC, id
LIMIT $k

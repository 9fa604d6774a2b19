// The names that most sentences have, of as many the most often mentioned first, each with those that stand beside it
// in a sentence, in the order of how many do.
// mode: read
// param $limit: int: how many are looked at
// returns: name, beside
MATCH (e:Entity)
WITH e, COUNT { (e)<-[:MENTIONS]-() } AS sentences
ORDER BY sentences DESC
LIMIT $limit
WITH e, sentences,
     reduce(n = 0, count IN [(e)-[at:FROM_CHUNK]->(:Chunk) | coalesce(at.count, 1)] | n + count) AS mentions
ORDER BY sentences DESC, mentions DESC, e.name
LIMIT 20
RETURN e.name AS name,
       COLLECT {
         MATCH (e)<-[:MENTIONS]-(:Fact)-[:MENTIONS]->(o:Entity)
         WHERE o.name <> e.name
         WITH o.name AS other, count(*) AS shared
         ORDER BY shared DESC, other
         LIMIT 5
         RETURN other
       } AS beside

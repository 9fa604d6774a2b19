// The entities with the most facts, of as many the most often mentioned first, as [id, name, type, facts, community,
// others, beside]: others are the entities of at least as many facts as the last one that it is joined to as a subject;
// beside, of one that no relation joins to any, those that the same sentences name. With all communities, as [id, name,
// parent, depth], and how many entities and relations the graph has. All in one row. Each of others and beside is [id,
// times]: the [since, until] of each place that states the fact.
// mode: read
// param $limit: int: how many entities
// param $least: int: the fewest facts of an entity
// param $types: list<string>: entities of these types only; empty for all, as the two others
// param $communities: list<string>: ids of communities that entities are in, or in one inside of
// param $documents: list<string>: ids of documents of which one names the entities; null: of all
// param $relations: list<string>: types of relations that entities have, and that lines stand for
// returns: entities, communities, nodes, relations
MATCH (e:Entity)
WHERE (size($types) = 0 OR e.type IN $types)
  AND (size($communities) = 0
    OR EXISTS {
      MATCH (e)-[:MEMBER_OF]->(:Community)-[:PARENT]->{0,20}(c:Community)
      WHERE c.id IN $communities
    })
  AND ($documents IS NULL
    OR EXISTS {
      MATCH (e)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document)
      WHERE d.id IN $documents
    })
  AND (size($relations) = 0
    OR EXISTS {
      MATCH (e)-[r]-(:Entity)
      WHERE type(r) IN $relations AND r.fact IS NOT NULL
    })
WITH e, COUNT { (e)<-[:SUBJECT|OBJECT|MENTIONS]-() } AS facts
WHERE facts >= $least
WITH e, facts, reduce(n = 0, count IN [(e)-[at:FROM_CHUNK]->(:Chunk) | coalesce(at.count, 1)] | n + count) AS mentions
ORDER BY facts DESC, mentions DESC, e.id
LIMIT $limit
WITH collect({entity: e, facts: facts}) AS chosen, min(facts) AS least
UNWIND chosen AS one
WITH least, one.facts AS facts, one.entity AS e
WITH collect([
       e.id, e.name, e.type, facts,
       head([(e)-[:MEMBER_OF]->(c:Community) | c.id]),
       COLLECT {
         MATCH (e)<-[:SUBJECT]-(f:Fact)-[:OBJECT]->(o:Entity)
         WHERE COUNT { (o)<-[:SUBJECT|OBJECT|MENTIONS]-() } >= least
           AND (size($relations) = 0
             OR EXISTS {
               MATCH (e)-[r]->(o)
               WHERE type(r) IN $relations
             })
         RETURN [o.id, COLLECT {
           MATCH (f)-[at:FROM_CHUNK]->()
           RETURN DISTINCT [at.since, at.until]
         }]
       },
       COLLECT {
         MATCH (e)<-[:MENTIONS]-(f:Fact)-[:MENTIONS]->(o:Entity)
         WHERE size($relations) = 0
           AND NOT EXISTS { (e)<-[:SUBJECT]-(:Fact)-[:OBJECT]->(:Entity) }
           AND NOT EXISTS { (e)<-[:OBJECT]-() }
         RETURN [o.id, COLLECT {
           MATCH (f)-[at:FROM_CHUNK]->()
           RETURN DISTINCT [at.since, at.until]
         }]
       }
     ]) AS entities
RETURN entities,
       COLLECT {
         MATCH (c:Community)
         RETURN [c.id, c.name, head([(c)-[:PARENT]->(parent:Community) | parent.id]), c.depth]
         ORDER BY c.depth, c.id
       } AS communities,
       COUNT { (:Entity) } AS nodes, COUNT { ()-[:OBJECT]->() } AS relations

// The entities with the most facts, the most connected first, as [id, name, type, facts, community, others]: others are
// the entities of at least as many facts as the last one that it is joined to as a subject. With all communities, as
// [id, name, parent, depth], and how many entities and relations the graph has. All in one row.
// mode: read
// param $limit: int: how many entities
// returns: entities, communities, nodes, relations
MATCH (e:Entity)
WITH e, COUNT { (e)<-[:SUBJECT|OBJECT]-() } AS facts
ORDER BY facts DESC, e.id
LIMIT $limit
WITH collect({entity: e, facts: facts}) AS chosen, min(facts) AS least
UNWIND chosen AS one
WITH least, one.facts AS facts, one.entity AS e
WITH collect([
       e.id, e.name, e.type, facts,
       head([(e)-[:MEMBER_OF]->(c:Community) | c.id]),
       COLLECT {
         MATCH (e)<-[:SUBJECT]-(:Fact)-[:OBJECT]->(o:Entity)
         WHERE COUNT { (o)<-[:SUBJECT|OBJECT]-() } >= least
         RETURN o.id
       }
     ]) AS entities
RETURN entities,
       COLLECT {
         MATCH (c:Community)
         RETURN [c.id, c.name, head([(c)-[:PARENT]->(parent:Community) | parent.id]), c.depth]
         ORDER BY c.depth, c.id
       } AS communities,
       COUNT { (:Entity) } AS nodes, COUNT { ()-[:OBJECT]->() } AS relations

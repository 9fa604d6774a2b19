// Take away the mentions in these passages, then the entities and key elements that nothing mentions any more, and the
// keywords that they were; those that stay are looked at again, since an alias or a name may have gone. Communities
// that lose an entity are due in the next update of the tree.
// mode: write
// param $rows: list<map>: passage, gone: ids of those that it mentions no more; null: all
UNWIND $rows AS row
MATCH (:Chunk {id: row.passage})<-[mention:FROM_CHUNK]-(k:KeyElement)
WHERE row.gone IS NULL OR k.id IN row.gone
DELETE mention
WITH DISTINCT k
SET k:Pending
FOREACH (form IN COLLECT { MATCH (k)-[:FORM_OF]-(o:KeyElement) RETURN o } | SET form:Pending)
WITH k
WHERE NOT EXISTS { (k)-[:FROM_CHUNK]->(:Chunk) }
OPTIONAL MATCH (g:Graph {id: 'graph'})
FOREACH (due IN COLLECT { MATCH (k)-[:MEMBER_OF]->(:Community)-[:PARENT*0..]->(c:Community) RETURN c } |
  SET due.treeDue = coalesce(g.treeRuns, 0))
WITH k
OPTIONAL MATCH (k)-[:REPRESENTED_BY]->(keyword:Keyword)
DETACH DELETE keyword, k

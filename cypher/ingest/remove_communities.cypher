// Take away communities that no entity is left in, of those that lost some.
// mode: write
MATCH (c:Community)
WHERE c.treeDue IS NOT NULL AND NOT EXISTS { (c)<-[:PARENT*0..]-(:Community)<-[:MEMBER_OF]-(:Entity) }
DETACH DELETE c

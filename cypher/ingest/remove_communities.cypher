// Take away communities that no entity is left in, after entities were removed.
// mode: write
MATCH (c:Community)
WHERE NOT EXISTS { (c)<-[:PARENT*0..]-(:Community)<-[:MEMBER_OF]-(:Entity) }
DETACH DELETE c

// The entities of a community and of those inside it, those that belong to it most first. One row if it is there.
// mode: read
// param $id: string: the community's id
// param $limit: int: how many entities
// returns: members
MATCH (c:Community {id: $id})
RETURN COLLECT {
  MATCH (c)<-[:PARENT]-{0,20}(:Community)<-[member:MEMBER_OF]-(e:Entity)
  WITH e, member
  ORDER BY member.score DESC, e.id
  LIMIT $limit
  RETURN {id: e.id, name: e.name, labels: labels(e), type: e.type, text: '', degree: COUNT { (e)--() }}
} AS members

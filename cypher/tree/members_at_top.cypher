// The entities in these communities and in all communities inside them.
// mode: read
// param $tops: list<string>: community ids
// returns: id
UNWIND $tops AS id
MATCH (:Community {id: id})<-[:PARENT*0..]-(:Community)<-[:MEMBER_OF]-(e:Entity)
RETURN e.id AS id

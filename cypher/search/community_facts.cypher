// What communities have to say. A fact is at home where its subject is; one without a subject where the first of the
// entities that it mentions is: so that each is read once. Of a community the facts that most passages state; and its
// members that no fact at home is about. Facts whose words were found in no passage are counted only. `sameAs` has the
// statements that say what a triple or an attribute says, in the same place.
// mode: read
// param $ids: list<string>: community ids
// param $most: int: how many facts of a community
// param $members: int: how many members
// param $asOf: list<string>: the first day of a time, and the day after its last; what is said of other times stays out
// returns: id, facts, total, unfound, members
UNWIND $ids AS id
MATCH (c:Community {id: id})
CALL (c) {
  MATCH (c)<-[:PARENT]-{0,20}(:Community)<-[:MEMBER_OF]-(e:Entity)<-[:SUBJECT|MENTIONS]-(f:Fact)
  WITH DISTINCT e, f
  WHERE EXISTS {
    (f)-[at:FROM_CHUNK]->() WHERE coalesce(at.since, '') < $asOf[1] AND coalesce(at.until, '~') > $asOf[0]
  }
  WITH e, f
  WHERE EXISTS { (f)-[:SUBJECT]->(e) }
     OR (NOT EXISTS { (f)-[:SUBJECT]->(:Entity) }
         AND e.id = COLLECT { MATCH (f)-[:MENTIONS]->(o:Entity)-[:MEMBER_OF]->() RETURN o.id ORDER BY o.id LIMIT 1 }[0])
  WITH e, f, COUNT { (f)-[place:FROM_CHUNK]->() WHERE place.found } AS places
  ORDER BY places DESC, f.id
  WITH collect({
         id: f.id,
         text: f.text,
         about: e.name,
         places: places,
         sameAs: COLLECT {
           MATCH (f)-[at:FROM_CHUNK]->(:Chunk)<-[same:FROM_CHUNK]-(s:Fact {kind: 'atomic'})
           WHERE f.kind <> 'atomic' AND at.start < same.end AND same.start < at.end
             AND s.text CONTAINS f.subject AND s.text CONTAINS f.object
           RETURN s.id
         }
       }) AS every
  WITH every, [fact IN every WHERE fact.places > 0] AS found
  RETURN found[..$most] AS facts, size(found) AS total, size(every) - size(found) AS unfound
}
RETURN id, facts, total, unfound,
       COLLECT {
         MATCH (c)<-[:PARENT]-{0,20}(:Community)<-[member:MEMBER_OF]-(e:Entity)
         WHERE NOT EXISTS { (e)<-[:SUBJECT|MENTIONS]-(:Fact) }
         WITH e, member
         ORDER BY member.score DESC, e.id
         LIMIT $members
         RETURN CASE WHEN e.type IS NULL THEN e.name ELSE e.name + ' (' + e.type + ')' END
       } AS members

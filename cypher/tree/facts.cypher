// What is said of the most central members of communities: for each community the facts that join most of them.
// mode: read
// param $rows: list<map>: id, members: the community and the ids of its most central members
// param $limit: int: how many facts of a community
// returns: id, facts
UNWIND $rows AS row
CALL (row) {
  UNWIND row.members AS member
  MATCH (:Entity {id: member})<-[:SUBJECT|OBJECT|MENTIONS]-(f:Fact)
  WHERE EXISTS { (f)-[:FROM_CHUNK {found: true}]->() }
  WITH f, collect(DISTINCT member) AS members
  ORDER BY size(members) DESC, f.kind = 'atomic' DESC, f.id
  LIMIT $limit
  RETURN collect([f.kind, f.text, f.subject, f.predicate, f.object, members]) AS facts
}
RETURN row.id AS id, facts

// Which of these ids are of statements, facts or values of attributes, and whether a passage has the words of each; one
// that has no passage at all counts as found. An attribute is found if any of its facts is.
// mode: read
// param $ids: list<string>: ids of any nodes
// returns: id, found, texts
UNWIND $ids AS id
CALL (id) {
  MATCH (f:Fact {id: id})
  RETURN f
  UNION ALL
  MATCH (:Attribute {id: id})<-[:VALUE]-(f:Fact)
  RETURN f
}
OPTIONAL MATCH (f)-[place:FROM_CHUNK]->(:Chunk)
WITH id, collect(DISTINCT f.text) AS texts, collect(place.found) AS marks
RETURN id, true IN marks OR NOT false IN marks AS found, texts

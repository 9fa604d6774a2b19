// Entities of these ids, of a name, or of a name and a type.
// mode: read
// param $ids: list<string>: ids
// param $key: string: a normalised name
// param $bare: string: another, of one with the type
// param $type: string: the type; may be null
// returns: id, name, key, type, aliases, passages
CALL () {
  UNWIND $ids AS id
  MATCH (e:Entity {id: id})
  RETURN e
UNION
  MATCH (e:Entity {key: $key})
  RETURN e
UNION
  MATCH (e:Entity {key: $bare})
  WHERE e.type = $type
  RETURN e
}
RETURN e.id AS id, e.name AS name, e.key AS key, e.type AS type, coalesce(e.aliases, []) AS aliases,
       COUNT { (e)-[:FROM_CHUNK]->() } AS passages
ORDER BY passages DESC, id
LIMIT 20

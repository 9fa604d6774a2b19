// Facts that join two of the names of one row, its subject one, its object or value another, or that say in words what
// the row says of one; those first that have a relation of a type that the statement asked for, of these those whose
// words a passage has.
// mode: read
// param $rows: list<map>: number, names: of a row, and the names and values that it speaks of
// param $words: list<string>: the words of the statement, relationship types among them
// param $most: int: how many facts of a row
// returns: number, facts, wanted, found
UNWIND $rows AS row
CALL (row) {
  MATCH (e:Entity)<-[:SUBJECT]-(f:Fact)
  WHERE e.name IN row.names AND f.object <> e.name
    AND (f.object IN row.names OR f.text IN row.names
      OR EXISTS { (f)-[:OBJECT]->(o:Entity) WHERE o.name IN row.names AND o <> e })
  WITH DISTINCT f.id AS fact, EXISTS { (e)-[r]->(:Entity) WHERE r.fact = f.id AND type(r) IN $words } AS wanted,
    EXISTS { (f)-[:FROM_CHUNK {found: true}]->(:Chunk) }
      OR NOT EXISTS { (f)-[:FROM_CHUNK {found: false}]->(:Chunk) } AS found
  ORDER BY wanted DESC, found DESC, fact
  LIMIT $most
  RETURN collect(fact) AS facts, collect(wanted) AS wanted, collect(found) AS found
}
RETURN row.number AS number, facts, wanted, found

// Facts that join two of the names of one row, its subject one, its object or value another; those first that have a
// relation of a type that the statement asked for.
// mode: read
// param $rows: list<map>: number, names: of a row, and the names and values that it speaks of
// param $words: list<string>: the words of the statement, relationship types among them
// param $most: int: how many facts of a row
// returns: number, facts, wanted
UNWIND $rows AS row
CALL (row) {
  MATCH (e:Entity)<-[:SUBJECT]-(f:Fact)
  WHERE e.name IN row.names AND f.object <> e.name
    AND (f.object IN row.names OR EXISTS { (f)-[:OBJECT]->(o:Entity) WHERE o.name IN row.names AND o <> e })
  WITH DISTINCT f.id AS fact, EXISTS { (e)-[r]->(:Entity) WHERE r.fact = f.id AND type(r) IN $words } AS wanted
  ORDER BY wanted DESC, fact
  LIMIT $most
  RETURN collect(fact) AS facts, collect(wanted) AS wanted
}
RETURN row.number AS number, facts, wanted

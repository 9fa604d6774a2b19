// Relations between entities, of those that the store comes to first, with the number of facts of both ends, and how
// many subjects have the same relation to the same object. The best known objects come first.
// mode: read
// param $looked: int: how many relations are looked at
// param $hub: int: ends with more facts than this are left out
// param $limit: int: how many are returned
// returns: subject, type, predicate, object, subject_facts, object_facts, rivals
MATCH (s:Entity)<-[:SUBJECT]-(f:Fact)-[:OBJECT]->(o:Entity)
WHERE s.name <> o.name
WITH s, f, o
LIMIT $looked
WITH s, f, o,
     COUNT { (s)<-[:SUBJECT|OBJECT]-() } AS subject_facts, COUNT { (o)<-[:SUBJECT|OBJECT]-() } AS object_facts
WHERE subject_facts <= $hub AND object_facts <= $hub
WITH s, f, o, subject_facts, object_facts,
     COUNT { (o)<-[:OBJECT]-(other:Fact) WHERE other.predicate = f.predicate } AS rivals
RETURN s.name AS subject, s.type AS type, f.predicate AS predicate, o.name AS object,
       subject_facts, object_facts, rivals
ORDER BY object_facts DESC, subject_facts DESC, subject, predicate, object
LIMIT $limit

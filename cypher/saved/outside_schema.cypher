// Facts that the schema did not foresee
// Their predicates, the most frequent first, each with some of its facts. An ingest with --mode strict keeps none.
MATCH (f:Fact {inSchema: false})
WITH f
ORDER BY f.text, f.id
RETURN f.kind AS kind, f.predicate AS predicate, count(*) AS facts, collect(f.text)[..3] AS examples
ORDER BY facts DESC, kind, predicate
LIMIT 50

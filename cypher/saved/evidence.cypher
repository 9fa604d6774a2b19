// The evidence behind a fact
// The fact that most passages state: what it joins, the passages that state it, and the documents they are from.
MATCH (f:Fact)
WHERE EXISTS { (f)-[:SUBJECT]->() }
ORDER BY COUNT { (f)-[:FROM_CHUNK]->() } DESC, COUNT { (f)-[:OBJECT]->() } DESC, f.id
LIMIT 1
MATCH stated = (f)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(:Document)
RETURN stated, [joins = (f)-[:SUBJECT|OBJECT|VALUE]->() | joins] AS joins

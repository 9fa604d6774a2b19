// The evidence behind a fact: what it joins, the passages that state it, and their documents.
// mode: read
// param $id: string: the fact
// returns: stated, joins
MATCH (f:Fact {id: $id})
MATCH stated = (f)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(:Document)
RETURN stated, [joins = (f)-[:SUBJECT|OBJECT|VALUE]->() | joins] AS joins

// Nodes with what a part of the graph has of their relationships. Those of names are found at the other end, where they
// are few: a name of the whole graph may stand in every passage.
// mode: read
// param $elements: list<string>: where they are
// returns: id, labels, properties, relationships
UNWIND $elements AS element
MATCH (n)
WHERE elementId(n) = element
RETURN n.id AS id, labels(n) AS labels, properties(n) AS properties,
       CASE
         WHEN n:KeyElement THEN []
         ELSE [(n)-[r:FROM_DOCUMENT|NEXT_CHUNK|FROM_CHUNK|SUBJECT|OBJECT|VALUE|MENTIONS|PROPOSED|PAGE_OF|NEXT_PAGE|CORRECTS]->(m)
               | [n.id, type(r), m.id, properties(r)]]
           + [(k:KeyElement)-[r:FROM_CHUNK|HAS_ATTRIBUTE]->(n) | [k.id, type(r), n.id, properties(r)]]
           + [(n)-[:SUBJECT]->(s:Entity)-[r]->(o:Entity)<-[:OBJECT]-(n) WHERE r.fact = n.id
               | [s.id, type(r), o.id, properties(r)]]
       END AS relationships

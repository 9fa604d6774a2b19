// A page of GraphReader's nodes in the order of their names: key elements that are no form of another, and that a fact
// is about whose words its passage has, under one of their forms.
// mode: read
// param $after: string: the last name of the page before
// param $count: int: how many names
// param $documents: list<string>: ids of the documents that state them; null: all
// returns: name
MATCH (n:KeyElement)
WHERE n.name > $after
  AND NOT EXISTS { (n)-[:FORM_OF]->(:KeyElement) }
  AND EXISTS {
    MATCH (n)<-[:FORM_OF*0..1]-(:KeyElement)<-[:MENTIONS|SUBJECT|OBJECT]-(:Fact)-[:FROM_CHUNK {found: true}]->(c:Chunk)
    WHERE $documents IS NULL OR EXISTS { (c)-[:FROM_DOCUMENT]->(d:Document) WHERE d.id IN $documents }
  }
WITH DISTINCT n.name AS name
ORDER BY name
LIMIT $count
RETURN name

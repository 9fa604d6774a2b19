// Take away the mentions of key elements that are not entities in these passages, which came from atomic facts alone,
// then those elements that nothing mentions any more.
// mode: write
// param $passages: list<string>: passage ids
UNWIND $passages AS id
MATCH (:Chunk {id: id})<-[mention:FROM_CHUNK]-(k:KeyElement)
WHERE NOT k:Entity
DELETE mention
WITH DISTINCT k
SET k:Pending
FOREACH (form IN COLLECT { MATCH (k)-[:FORM_OF]-(o:KeyElement) RETURN o } | SET form:Pending)
WITH k
WHERE NOT EXISTS { (k)-[:FROM_CHUNK]->(:Chunk) }
DETACH DELETE k

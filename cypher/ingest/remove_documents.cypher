// Remove documents, after their passages, with pages that came in between.
// mode: write
// param $documents: list<string>: document ids
UNWIND $documents AS id
MATCH (d:Document {id: id})
OPTIONAL MATCH (p:Page)-[:PAGE_OF]->(d)
DETACH DELETE p, d

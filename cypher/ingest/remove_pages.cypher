// Take away all pages of documents whose text is changed or removed, and what was said of their gists.
// mode: write
// param $documents: list<string>: document ids
UNWIND $documents AS id
MATCH (d:Document {id: id})
REMOVE d.compression
WITH d
MATCH (p:Page)-[:PAGE_OF]->(d)
DETACH DELETE p

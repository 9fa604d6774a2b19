// Remove documents, after their chunks.
// mode: write
// param $documents: list<string>: document ids
UNWIND $documents AS id
MATCH (d:Document {id: id})
DETACH DELETE d

// A summary of documents and questions that they answer, as a model wrote them, if they still have the text it read.
// mode: write
// param $rows: list<map>: id, sha256, summary, questions
UNWIND $rows AS row
MATCH (d:Document {id: row.id, sha256: row.sha256})
SET d.summary = row.summary,
    d.questions = row.questions,
    d.introducedFor = row.sha256

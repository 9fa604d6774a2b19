// The gist memory in reading order: documents by title, then by id. Those of a document are the pages that were made
// for this question, if it has all of them and none is still to be gisted, else those for any question.
// mode: read
// param $documents: list<string>: ids of the documents to remember; all if there is none
// param $question: string: the question, in the form in which pages keep it
// returns: id, document, title, index, start, end, gist
CALL () {
  WITH $documents AS chosen
  WHERE size(chosen) = 0
  MATCH (d:Document)
  RETURN d
  UNION ALL
  MATCH (d:Document)
  WHERE d.id IN $documents
  RETURN d
}
MATCH (last:Page)-[:PAGE_OF]->(d)
WHERE last.question IN ['', $question] AND last.end = d.characters
  AND (last.question = '' OR NOT EXISTS {
    MATCH (due:Page {memory: last.memory})
    WHERE due.gist IS NULL AND due.failure IS NULL
  })
WITH d, max(last.question) AS question
MATCH (p:Page {question: question})-[:PAGE_OF]->(d)
RETURN p.id AS id, d.uri AS document, d.name AS title, p.index AS index, p.start AS start, p.end AS end, p.gist AS gist
ORDER BY d.key, d.id, p.index

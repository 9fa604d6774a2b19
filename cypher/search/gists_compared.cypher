// The pages whose gists are nearest to the question by meaning, of those that documents are remembered by (see gists);
// each of them is compared.
// mode: read
// param $documents: list<string>: ids of the documents to remember; all if there is none
// param $question: string: the question, in the form in which pages keep it
// param $vector: list<float>: the question's vector
// param $count: int: how many
// returns: id, cosine
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
WHERE p.embedding IS NOT NULL
RETURN p.id AS id, 2 * vector.similarity.cosine(p.embedding, $vector) - 1 AS cosine
ORDER BY cosine DESC, id
LIMIT $count

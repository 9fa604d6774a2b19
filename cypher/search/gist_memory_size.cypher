// How much gist memory there is to read. A document is remembered by the pages that were made for this question, if it
// has all of them and none is still to be gisted, else by those for any question; pages that do not reach its end are
// not finished and do not count.
// mode: read
// param $documents: list<string>: ids of the documents to remember; all if there is none
// param $question: string: the question, in the form in which pages keep it
// returns: documents, without, forQuestion, pages, ungisted, unembedded, tokens, words, longest
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
WITH d
WHERE EXISTS { (:Chunk)-[:FROM_DOCUMENT]->(d) }
OPTIONAL MATCH (last:Page)-[:PAGE_OF]->(d)
WHERE last.question IN ['', $question] AND last.end = d.characters
  AND (last.question = '' OR NOT EXISTS {
    MATCH (due:Page {memory: last.memory})
    WHERE due.gist IS NULL AND due.failure IS NULL
  })
WITH d, max(last.question) AS question
OPTIONAL MATCH (p:Page {question: question})-[:PAGE_OF]->(d)
WITH d, question, count(p) AS pages, count(p.gist) AS gists, count(p.embedding) AS vectors,
     sum(p.gistTokens) AS tokens, sum(p.words) AS words, max(p.tokens) AS longest
RETURN count(question) AS documents, count(d) - count(question) AS without,
       count(nullIf(question, '')) AS forQuestion, sum(pages) AS pages, sum(pages) - sum(gists) AS ungisted,
       sum(gists) - sum(vectors) AS unembedded, sum(tokens) AS tokens, sum(words) AS words,
       coalesce(max(longest), 0) AS longest

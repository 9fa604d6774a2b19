// The pages of the whole graph whose gists are nearest to the question by meaning. The index holds the pages of every
// memory: chosen are those by which their document is remembered (see gists).
// mode: read
// param $k: int: how many the index is asked for
// param $vector: list<float>: the question's vector
// param $question: string: the question, in the form in which pages keep it
// returns: id, cosine, chosen
CALL db.index.vector.queryNodes('page_embedding', $k + 100, $vector) YIELD node AS p, score
WITH p, score
ORDER BY score DESC, p.id
LIMIT $k
MATCH (p)-[:PAGE_OF]->(d:Document)
WITH d, collect({id: p.id, question: p.question, score: score}) AS near
OPTIONAL MATCH (last:Page)-[:PAGE_OF]->(d)
WHERE last.question IN ['', $question] AND last.end = d.characters
  AND (last.question = '' OR NOT EXISTS {
    MATCH (due:Page {memory: last.memory})
    WHERE due.gist IS NULL AND due.failure IS NULL
  })
WITH d, near, max(last.question) AS question
UNWIND near AS page
RETURN page.id AS id, 2 * page.score - 1 AS cosine, coalesce(page.question = question, false) AS chosen
ORDER BY cosine DESC, id

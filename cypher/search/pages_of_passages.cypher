// The pages that hold some passages, or a part of them; those of the first passage first.
// mode: read
// param $passages: list<string>: passage ids, best first
// param $documents: list<string>: ids of the documents that are remembered; all if there is none
// param $question: string: the question, in the form in which pages keep it
// returns: id
UNWIND range(0, size($passages) - 1) AS place
MATCH (c:Chunk {id: $passages[place]})-[:FROM_DOCUMENT]->(d:Document)
WHERE size($documents) = 0 OR d.id IN $documents
WITH d, collect({place: place, start: c.start, end: c.end}) AS passages
MATCH (last:Page)-[:PAGE_OF]->(d)
WHERE last.question IN ['', $question] AND last.end = d.characters
  AND (last.question = '' OR NOT EXISTS {
    MATCH (due:Page {memory: last.memory})
    WHERE due.gist IS NULL AND due.failure IS NULL
  })
WITH d, passages, max(last.question) AS question
MATCH (p:Page {question: question})-[:PAGE_OF]->(d)
WITH p, [held IN passages WHERE p.start < held.end AND p.end > held.start | held.place] AS places
UNWIND places AS place
WITH p, min(place) AS place
RETURN p.id AS id
ORDER BY place, p.index, id

// How far the gist memories of some documents are, for one question or for any.
// mode: read
// param $documents: list<string>: document ids
// param $question: string: what the memories are for; '' for any question
// returns: id, name, sha256, characters, tokens, compression, pages, gisted, made, spans, counts
UNWIND $documents AS id
MATCH (d:Document {id: id})
OPTIONAL MATCH (p:Page {question: $question})-[:PAGE_OF]->(d)
WITH d, count(p) AS pages, count(p.gist) AS gisted, collect(DISTINCT p.made) AS made,
     collect(CASE WHEN p IS NOT NULL THEN [p.index, p.start, p.end] END) AS spans,
     sum(p.words) AS words, sum(CASE WHEN p.gist IS NULL THEN 0 ELSE p.words END) AS gistedWords,
     sum(p.gistWords) AS gistWords, sum(p.gistTokens) AS gistTokens,
     collect(CASE WHEN p.flag <> '' THEN p.flag END) AS flags
RETURN d.id AS id, d.name AS name, d.sha256 AS sha256, d.characters AS characters, coalesce(d.tokens, 0) AS tokens,
       d.compression AS compression, pages, gisted, made, spans,
       {words: words, gistedWords: gistedWords, gistWords: gistWords, gistTokens: gistTokens, flags: flags} AS counts

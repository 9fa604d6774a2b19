// Pages of a document, and their reading order, if its text and its pages are still those that they were made from. Of
// two runs that come at once the second waits for the first, and sees its pages. A page without a gist loses the gist
// and the vector that it had.
// mode: write
// param $document: string: document id
// param $sha256: string: of the document's text
// param $question: string: what the memory is for; '' for any question
// param $there: list<map>: id, end: pages that have to be there
// param $new: list<string>: ids of pages that must not be there
// param $gone: list<string>: ids of pages that are no more
// param $rows: list<map>: id, memory, made, name, index, start, end, words, tokens, hasGist
// param $following: list<map>: id, next: page ids
// returns: id
MATCH (d:Document {id: $document, sha256: $sha256})
SET d.sha256 = $sha256
WITH d
CALL () {
  UNWIND $there AS row
  MATCH (p:Page {id: row.id, end: row.end})
  RETURN count(p) AS there
}
CALL () {
  UNWIND $new AS id
  MATCH (p:Page {id: id})
  RETURN count(p) AS new
}
WITH d, there, new
WHERE there = size($there) AND new = 0
SET d.compression = CASE WHEN $question <> '' THEN d.compression END
WITH d
CALL (d) {
  UNWIND $gone AS id
  MATCH (p:Page {id: id})-[:PAGE_OF]->(d)
  DETACH DELETE p
}
CALL (d) {
  UNWIND $rows AS row
  MERGE (p:Page {id: row.id})
  SET p.memory = row.memory,
      p.question = $question,
      p.made = row.made,
      p.name = row.name,
      p.index = row.index,
      p.start = row.start,
      p.end = row.end,
      p.words = row.words,
      p.tokens = row.tokens,
      p.flag = CASE WHEN row.hasGist THEN p.flag ELSE '' END
  MERGE (p)-[:PAGE_OF]->(d)
  WITH p, row
  WHERE NOT row.hasGist
  REMOVE p.gist, p.gistWords, p.gistTokens, p.embedding, p.again, p.final, p.failure, p:Pending
}
CALL () {
  UNWIND $following AS link
  MATCH (p:Page {id: link.id})
  MATCH (next:Page {id: link.next})
  MERGE (p)-[:NEXT_PAGE]->(next)
}
RETURN d.id AS id

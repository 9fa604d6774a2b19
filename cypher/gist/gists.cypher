// Gists of pages, whose vectors are due with that. Skipped: a page that ends elsewhere by now,
// or whose document has another text.
// mode: write
// param $rows: list<map>: id, sha256, end, gist, gistWords, gistTokens, flag, again, final
// returns: id
UNWIND $rows AS row
MATCH (p:Page {id: row.id, end: row.end})-[:PAGE_OF]->(:Document {sha256: row.sha256})
SET p:Pending,
    p.gist = row.gist,
    p.gistWords = row.gistWords,
    p.gistTokens = row.gistTokens,
    p.flag = row.flag,
    p.again = CASE WHEN row.again > 0 THEN row.again END,
    p.final = CASE WHEN row.final THEN true END
REMOVE p.failure
RETURN p.id AS id

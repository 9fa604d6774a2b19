// Some pages with their gists, in reading order: documents by title, then by id.
// mode: read
// param $ids: list<string>: page ids
// returns: id, document, title, index, start, end, gist
UNWIND $ids AS page
MATCH (p:Page {id: page})-[:PAGE_OF]->(d:Document)
RETURN p.id AS id, d.uri AS document, d.name AS title, p.index AS index, p.start AS start, p.end AS end, p.gist AS gist
ORDER BY d.key, d.id, p.index

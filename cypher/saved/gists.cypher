// Pages and what was read again
// The document that the last saved run of the reader readagent read pages of, or else the one with the most pages: its
// pages in reading order, and the steps of that run that read a page again.
OPTIONAL MATCH (r:Run {reader: 'readagent'})
WHERE EXISTS { (r)-[:HAS_STEP]->(:Step)-[:FOUND]->(:Page) }
WITH r
ORDER BY r.at DESC, r.id
LIMIT 1
MATCH (p:Page)-[:PAGE_OF]->(d:Document)
WITH r, d, COUNT { (r)-[:HAS_STEP]->(:Step)-[:FOUND]->(:Page)-[:PAGE_OF]->(d) } AS read, count(p) AS pages
ORDER BY read DESC, pages DESC, d.id
LIMIT 1
MATCH page = (p:Page)-[:PAGE_OF]->(d)
RETURN page, [next = (p)-[:NEXT_PAGE]->(:Page) | next] AS next,
       [step = (r)-[:HAS_STEP]->(:Step)-[:FOUND]->(p) | step] AS read
ORDER BY p.question, p.index
LIMIT 200

// The languages of the documents, and how many documents are in each.
// mode: read
// returns: language, documents
MATCH (d:Document)
WHERE d.language IS NOT NULL
RETURN d.language AS language, count(*) AS documents
ORDER BY documents DESC, language

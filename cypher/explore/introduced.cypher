// Questions that a model wrote to single documents, those of the latest documents first. An index has these documents.
// mode: read
// param $limit: int: how many are returned
// returns: question
MATCH (d:Document)
WHERE d.introducedFor IS NOT NULL
WITH d ORDER BY d.addedAt DESC, d.id
LIMIT $limit
UNWIND d.questions AS question
RETURN question
LIMIT $limit

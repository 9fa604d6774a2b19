// How many documents there are, by a count that the database keeps.
// mode: read
// returns: documents
MATCH (d:Document)
RETURN count(d) AS documents

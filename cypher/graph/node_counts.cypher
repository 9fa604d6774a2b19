// How many nodes each label has.
// mode: read
// returns: label, count
MATCH (n)
UNWIND labels(n) AS label
RETURN label, count(*) AS count
ORDER BY label

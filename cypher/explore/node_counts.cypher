// How many nodes each label has, but for the jobs of servers and passes that write.
// mode: read
// returns: label, count
MATCH (n)
UNWIND labels(n) AS label
WITH label
WHERE NOT label IN ['ServerJob', 'WritePass']
RETURN label, count(*) AS count
ORDER BY label

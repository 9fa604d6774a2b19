// How many nodes each label has, but for the jobs of servers.
// mode: read
// returns: label, count
MATCH (n)
UNWIND labels(n) AS label
WITH label
WHERE label <> 'ServerJob'
RETURN label, count(*) AS count
ORDER BY label

// What the saved runs of some readers counted, summed, with the number of these runs and of their paths.
// mode: read
// param $readers: list<string>: names of readers
// returns: name, number, runs, paths
MATCH (r:Run)
WHERE r.reader IN $readers AND size(r.counts) > 0
WITH r, COUNT { MATCH (r)-[:HAS_STEP]->(s:Step) WHERE s.path > 0 RETURN DISTINCT s.path } AS walked
WITH collect(r) AS kept, sum(walked) AS paths
UNWIND kept AS r
UNWIND range(0, size(r.counts) - 1) AS place
RETURN r.countNames[place] AS name, sum(r.counts[place]) AS number, size(kept) AS runs, paths
ORDER BY name

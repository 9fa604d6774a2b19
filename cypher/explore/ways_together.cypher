// The shortest ways between two key elements over the passages that name them: the ids of all that lies on each. None
// where no chain of four passages joins them.
// mode: read
// param $source: string: id of a key element
// param $target: string: id of another one
// param $most: int: how many ways
// returns: ids
MATCH (a:KeyElement {id: $source})
MATCH (b:KeyElement {id: $target})
MATCH way = allShortestPaths((a)-[:FROM_CHUNK*..8]-(b))
WHERE all(n IN nodes(way) WHERE n:Chunk OR n:KeyElement)
WITH [n IN nodes(way) | n.id] AS ids
LIMIT 1000
RETURN ids
ORDER BY ids
LIMIT $most

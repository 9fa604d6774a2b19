// How many nodes of the platform there are, and how many relationships between them.
// mode: read
// returns: nodes, relationships
MATCH (n:Graph|Document|Chunk|KeyElement|Attribute|Fact|Community|Keyword|Page|Run|Step)
WHERE n.id > ''
WITH n, COUNT {
  (n)-->(m:Graph|Document|Chunk|KeyElement|Attribute|Fact|Community|Keyword|Page|Run|Step)
  WHERE m.id > ''
} AS begun
RETURN count(n) AS nodes, sum(begun) AS relationships

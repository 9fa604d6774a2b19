// How many nodes of the platform there are.
// mode: read
// returns: nodes
MATCH (n:Graph|Document|Chunk|KeyElement|Attribute|Fact|Community|Keyword|Page|ProposedType|Correction|Run|Step)
WHERE n.id > ''
RETURN count(n) AS nodes

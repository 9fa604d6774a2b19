// Whether the graph has any node of the platform but the one that describes it.
// mode: read
// returns: any
RETURN EXISTS {
  MATCH (:Document|Chunk|KeyElement|Attribute|Fact|Community|Keyword|Page|ProposedType|Correction|Run|Step)
} AS any

// Passages by the schema that bounded them: finds what a schema that has grown since is to bound again.
// mode: schema
CREATE INDEX chunk_bound_by IF NOT EXISTS
FOR (n:Chunk) ON (n.seed, n.boundBy)

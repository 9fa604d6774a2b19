// Rows of the store.
MATCH (n)
WITH count(n) AS nodes
RETURN nodes, COUNT { ()-[]->() } AS relationships, COUNT { (:Entity) } AS entities, COUNT { (:Fact) } AS facts,
       COUNT { (:Chunk) } AS passages

// Entities that have changed since the tree saw them.
// mode: schema
CREATE INDEX entity_tree_due IF NOT EXISTS
FOR (n:Entity) ON (n.treeDue)

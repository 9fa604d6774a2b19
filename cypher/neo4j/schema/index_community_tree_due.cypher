// Communities that have lost entities since the tree was built.
// mode: schema
CREATE INDEX community_tree_due IF NOT EXISTS
FOR (n:Community) ON (n.treeDue)

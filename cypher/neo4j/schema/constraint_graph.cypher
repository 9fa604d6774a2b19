// One Graph node per id.
// mode: schema
CREATE CONSTRAINT graph_id IF NOT EXISTS
FOR (n:Graph) REQUIRE n.id IS UNIQUE

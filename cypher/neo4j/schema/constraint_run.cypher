// One Run node per id.
// mode: schema
CREATE CONSTRAINT run_id IF NOT EXISTS
FOR (n:Run) REQUIRE n.id IS UNIQUE

// One Step node per id.
// mode: schema
CREATE CONSTRAINT step_id IF NOT EXISTS
FOR (n:Step) REQUIRE n.id IS UNIQUE

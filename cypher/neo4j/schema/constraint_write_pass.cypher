// One WritePass node per id.
// mode: schema
CREATE CONSTRAINT write_pass_id IF NOT EXISTS
FOR (p:WritePass) REQUIRE p.id IS UNIQUE

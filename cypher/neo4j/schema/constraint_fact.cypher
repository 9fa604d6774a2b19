// One Fact node per id.
// mode: schema
CREATE CONSTRAINT fact_id IF NOT EXISTS
FOR (n:Fact) REQUIRE n.id IS UNIQUE

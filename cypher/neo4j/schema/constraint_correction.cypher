// One Correction node per id.
// mode: schema
CREATE CONSTRAINT correction_id IF NOT EXISTS
FOR (n:Correction) REQUIRE n.id IS UNIQUE

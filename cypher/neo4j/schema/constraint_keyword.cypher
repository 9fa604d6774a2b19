// One Keyword node per id.
// mode: schema
CREATE CONSTRAINT keyword_id IF NOT EXISTS
FOR (n:Keyword) REQUIRE n.id IS UNIQUE

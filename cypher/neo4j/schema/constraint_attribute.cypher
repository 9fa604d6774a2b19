// One Attribute node per id.
// mode: schema
CREATE CONSTRAINT attribute_id IF NOT EXISTS
FOR (n:Attribute) REQUIRE n.id IS UNIQUE

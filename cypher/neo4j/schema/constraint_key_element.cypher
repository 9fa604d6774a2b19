// One KeyElement node per id.
// mode: schema
CREATE CONSTRAINT key_element_id IF NOT EXISTS
FOR (n:KeyElement) REQUIRE n.id IS UNIQUE

// One Page node per id.
// mode: schema
CREATE CONSTRAINT page_id IF NOT EXISTS
FOR (n:Page) REQUIRE n.id IS UNIQUE

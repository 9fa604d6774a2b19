// One Chunk node per id.
// mode: schema
CREATE CONSTRAINT chunk_id IF NOT EXISTS
FOR (n:Chunk) REQUIRE n.id IS UNIQUE

// One ProposedType node per id.
// mode: schema
CREATE CONSTRAINT proposed_type_id IF NOT EXISTS
FOR (n:ProposedType) REQUIRE n.id IS UNIQUE

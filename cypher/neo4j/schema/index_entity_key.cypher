// Entities by normalised name: finds the entities that a question names.
// mode: schema
CREATE INDEX entity_key IF NOT EXISTS
FOR (n:Entity) ON (n.key)

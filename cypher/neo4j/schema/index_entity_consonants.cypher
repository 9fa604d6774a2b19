// Entities by the consonants of their names: finds those that are spelt nearly alike.
// mode: schema
CREATE INDEX entity_consonants IF NOT EXISTS
FOR (n:Entity) ON (n.consonants)

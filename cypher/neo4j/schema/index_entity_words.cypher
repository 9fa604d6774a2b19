// Entities by all words of their names: finds those that are likely the same.
// mode: schema
CREATE INDEX entity_name_words IF NOT EXISTS
FOR (n:Entity) ON (n.nameWords)

// Entities by name, for people: MATCH (e:Entity {name: "…"}).
// mode: schema
CREATE INDEX entity_name IF NOT EXISTS
FOR (n:Entity) ON (n.name)

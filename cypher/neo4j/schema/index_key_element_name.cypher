// Key elements by name: GraphReader pages through all of them.
// mode: schema
CREATE INDEX key_element_name IF NOT EXISTS
FOR (n:KeyElement) ON (n.name)

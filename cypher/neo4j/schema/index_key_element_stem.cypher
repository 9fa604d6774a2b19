// Key elements by stem: finds the forms of one thing.
// mode: schema
CREATE INDEX key_element_stem IF NOT EXISTS
FOR (n:KeyElement) ON (n.stem)

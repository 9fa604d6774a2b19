// Every index and how far it is.
SHOW INDEXES YIELD name, state, type
WHERE type <> 'LOOKUP'
RETURN name, state

// Documents by normalised name: finds the documents that a question names.
// mode: schema
CREATE INDEX document_key IF NOT EXISTS
FOR (n:Document) ON (n.key)

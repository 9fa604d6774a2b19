// Documents by the file that they came from.
// mode: schema
CREATE INDEX document_source IF NOT EXISTS
FOR (n:Document) ON (n.source)

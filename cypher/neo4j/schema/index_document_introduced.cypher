// Documents with a summary that a model wrote: few of all, and asked for by everybody who begins.
// mode: schema
CREATE INDEX document_introduced IF NOT EXISTS
FOR (n:Document) ON (n.introducedFor)

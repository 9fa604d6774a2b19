// Pages by the memory that they belong to: of one document, for one question or for any.
// mode: schema
CREATE INDEX page_memory IF NOT EXISTS
FOR (n:Page) ON (n.memory)

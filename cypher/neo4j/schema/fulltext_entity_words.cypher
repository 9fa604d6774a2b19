// Entities by the words of their names, with how many these are: finds the names with one word more.
// mode: schema
CREATE FULLTEXT INDEX entity_words IF NOT EXISTS
FOR (n:Entity) ON EACH [n.nameWords]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}

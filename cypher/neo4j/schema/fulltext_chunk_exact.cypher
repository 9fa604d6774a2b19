// Words of passages as they were typed, in one spelling (kgplatform/text/languages.py).
// mode: schema
CREATE FULLTEXT INDEX chunk_exact IF NOT EXISTS
FOR (n:Chunk) ON EACH [n.exact]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}

// Words of passages in other languages than English, stemmed or cut before they are stored
// (kgplatform/text/languages.py).
// mode: schema
CREATE FULLTEXT INDEX chunk_words IF NOT EXISTS
FOR (n:Chunk) ON EACH [n.words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}

// Full text of passages and of their documents' names (BM25). English words are stemmed; other languages' are not.
// mode: schema
CREATE FULLTEXT INDEX chunk_text IF NOT EXISTS
FOR (n:Chunk) ON EACH [n.name, n.text]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}

// Full text of passages and of their documents' names (BM25), for English; `chunk_words` is for other languages.
// mode: schema
CREATE FULLTEXT INDEX chunk_text IF NOT EXISTS
FOR (n:Chunk) ON EACH [n.name, n.text]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}

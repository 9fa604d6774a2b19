// How many documents the graph has of each of these files.
// mode: read
// param $sources: list<string>: URIs of files
// returns: source, documents
UNWIND $sources AS source
RETURN source, COUNT { (d:Document) WHERE d.source = source } AS documents

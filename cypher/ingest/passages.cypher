// Passages of documents, with nothing extracted from them yet.
// mode: write
// param $rows: list<map>: id, document_id, name, text, index, start, end, page, tokens, location, locations, location_starts
UNWIND $rows AS row
MATCH (d:Document {id: row.document_id})
MERGE (c:Chunk {id: row.id})
ON CREATE SET c.state = 'pending'
SET c:Pending,
    c.name = row.name,
    c.text = row.text,
    c.index = row.index,
    c.start = row.start,
    c.end = row.end,
    c.page = row.page,
    c.tokens = row.tokens,
    c.location = row.location,
    c.locations = row.locations,
    c.locationStarts = row.location_starts
MERGE (c)-[:FROM_DOCUMENT]->(d)

// Key elements that a file and the graph both have: what the schema says of them counts, and names are settled again.
// mode: write
// param $rows: list<map>: element, labels, inSchema
UNWIND $rows AS row
MATCH (n)
WHERE elementId(n) = row.element
SET n:Pending
SET n:$(row.labels)
SET n.inSchema = n.inSchema OR row.inSchema

// How many passages state the relations that facts amount to.
// mode: write
// param $facts: list<string>: ids of facts
UNWIND $facts AS id
MATCH (f:Fact {id: id})-[:SUBJECT]->(:Entity)-[relation {fact: id}]->(:Entity)
SET relation.weight = COUNT { (f)-[:FROM_CHUNK]->(:Chunk) }

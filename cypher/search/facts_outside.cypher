// Facts that are at home in no community: about entities that came after the tree was built, or about none. In one row.
// mode: read
// param $most: int: how many facts
// param $asOf: list<string>: the first day of a time, and the day after its last; what is said of other times stays out
// returns: facts, total
MATCH (f:Fact)
WHERE CASE WHEN EXISTS { (f)-[:SUBJECT]->(:Entity) } THEN NOT EXISTS { (f)-[:SUBJECT]->(:Entity)-[:MEMBER_OF]->() }
           ELSE NOT EXISTS { (f)-[:MENTIONS]->(:Entity)-[:MEMBER_OF]->() } END
WITH f, COUNT {
  (f)-[at:FROM_CHUNK]->()
  WHERE at.found AND coalesce(at.since, '') < $asOf[1] AND coalesce(at.until, '~') > $asOf[0]
} AS places
WHERE places > 0
ORDER BY places DESC, f.id
WITH collect({id: f.id, text: f.text, about: coalesce(f.subject, ''), places: places}) AS every
RETURN every[..$most] AS facts, size(every) AS total

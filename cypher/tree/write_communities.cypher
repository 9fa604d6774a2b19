// Communities, level 4 of the tree. A new one gets a name put together from its members, and its vector is due.
// mode: write
// param $rows: list<map>: id, depth, size, center, name, summary, nameDue
UNWIND $rows AS row
MERGE (c:Community {id: row.id})
ON CREATE SET c:Pending,
              c.level = 4,
              c.depth = row.depth,
              c.name = row.name,
              c.nameBy = 'members',
              c.summary = row.summary,
              c.summaryBy = 'members',
              c.nameDue = row.nameDue
SET c.size = row.size,
    c.center = row.center

// Whether there are key elements that are not entities, and entities whose likenesses are known.
// mode: read
// returns: plain, joined
RETURN COUNT { (:KeyElement) } > COUNT { (:Entity) } AS plain,
       EXISTS {
         MATCH (e:Entity)
         WHERE e.joinDue IS NULL
       } AS joined

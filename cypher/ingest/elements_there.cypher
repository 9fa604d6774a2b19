// Whether there are key elements that are not entities.
// mode: read
// returns: plain
RETURN COUNT { (:KeyElement) } > COUNT { (:Entity) } AS plain

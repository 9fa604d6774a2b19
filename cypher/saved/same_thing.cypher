// Names that are likely one thing
// Entities joined by SAME_AS, the surest first. They are never merged.
MATCH pair = (:Entity)-[same:SAME_AS]->(:Entity)
RETURN pair
ORDER BY same.score DESC
LIMIT 50

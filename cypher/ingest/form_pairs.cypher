// All key elements, at most one of the two an entity, that mean nearly the same.
// mode: read
// returns: one, other, score
MATCH (one:KeyElement)-[likeness:SAME_AS]->(other:KeyElement)
WHERE NOT one:Entity
RETURN one.id AS one, other.id AS other, likeness.score AS score

// The nodes that a mapping reads, each with the relationships that lead from it to others that it reads. A node with
// several of the labels counts as the first.
// mode: read
// param $labels: list<string>: labels of nodes that are read
// param $properties: map: of each label, the properties that are read, the id first
// param $names: map: of each label, the properties that make the name of a node
// param $types: map: of each type of relationships that are read, its properties that are read
// returns: label, values, related
MATCH (n)
WITH n, [one IN $labels WHERE one IN labels(n)][0] AS label
WHERE label IS NOT NULL
RETURN label, [each IN $properties[label] | n[each]] AS values,
       COLLECT {
         MATCH (n)-[r]->(m)
         WHERE $types[type(r)] IS NOT NULL
         WITH r, m, [one IN $labels WHERE one IN labels(m)][0] AS other
         WHERE other IS NOT NULL
         RETURN [type(r), [each IN $types[type(r)] | r[each]], other, [each IN $names[other] | m[each]]]
       } AS related

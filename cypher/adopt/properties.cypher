// What the nodes of a graph have, by their labels: properties, their types, and whether each node has them.
// mode: read
// returns: labels, name, types, every
CALL db.schema.nodeTypeProperties() YIELD nodeLabels, propertyName, propertyTypes, mandatory
WITH nodeLabels, propertyName, propertyTypes, mandatory
WHERE propertyName IS NOT NULL
RETURN nodeLabels AS labels, propertyName AS name, propertyTypes AS types, mandatory AS every

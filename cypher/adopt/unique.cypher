// The properties that tell the nodes of a label apart by a constraint, one alone.
// mode: read
// returns: label, property
SHOW CONSTRAINTS YIELD entityType, type, labelsOrTypes, properties
WHERE entityType = 'NODE' AND (type CONTAINS 'UNIQUE' OR type = 'NODE_KEY') AND size(properties) = 1
RETURN labelsOrTypes[0] AS label, properties[0] AS property

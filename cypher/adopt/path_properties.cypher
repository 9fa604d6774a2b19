// What the relationships of each type have.
// mode: read
// returns: type, name, types, every
CALL db.schema.relTypeProperties() YIELD relType, propertyName, propertyTypes, mandatory
WITH relType, propertyName, propertyTypes, mandatory
WHERE propertyName IS NOT NULL
RETURN relType AS type, propertyName AS name, propertyTypes AS types, mandatory AS every

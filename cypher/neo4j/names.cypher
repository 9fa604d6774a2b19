// The labels, relationship types and property keys of the database, each kind under the code of the server's warning for
// a name that is none.
// mode: read
// returns: code, name
CALL db.labels() YIELD label
RETURN '01N50' AS code, label AS name
UNION ALL
CALL db.relationshipTypes() YIELD relationshipType
RETURN '01N51' AS code, relationshipType AS name
UNION ALL
CALL db.propertyKeys() YIELD propertyKey
RETURN '01N52' AS code, propertyKey AS name

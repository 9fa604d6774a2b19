// What is known of documents beside their texts: each property with its values, those of most documents first.
// mode: read
// param $limit: int: how many values of a property
// returns: name, values, distinct
MATCH (d:Document)
UNWIND [name IN keys(d) WHERE name STARTS WITH 'meta_'] AS name
UNWIND [] + d[name] AS value
WITH name, value, count(DISTINCT d) AS documents
ORDER BY documents DESC, value
WITH name, collect([value, documents]) AS values
RETURN name, values[..$limit] AS values, size(values) AS distinct
ORDER BY name

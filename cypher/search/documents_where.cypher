// The documents whose metadata fit: of each clause one term holds. A term compares a property, or each item of its list,
// with values of which one has to fit; nothing fits where there is no such property.
// mode: read
// param $where: list<map>: lists of terms: property, is, values, not
// returns: id, uri
MATCH (d:Document)
WHERE all(clause IN $where WHERE any(term IN clause WHERE term.not <> coalesce(
  any(value IN [] + CASE term.property WHEN 'addedAt' THEN toString(d.addedAt) ELSE d[term.property] END
      WHERE any(asked IN term.values WHERE CASE term.is
    WHEN '<' THEN value < asked
    WHEN '<=' THEN value <= asked
    WHEN '>' THEN value > asked
    WHEN '>=' THEN value >= asked
    WHEN 'CONTAINS' THEN toLower(value) CONTAINS asked
    WHEN 'ENDS WITH' THEN toLower(value) ENDS WITH asked
    ELSE value = asked
  END)), false)))
RETURN d.id AS id, d.uri AS uri
ORDER BY id

// The documents whose metadata fit: of each clause one term holds. A term compares a property, or each item of its list,
// with values of which one has to fit; nothing fits where there is no such property. By order, what is or spells a number
// is compared with a number, a text with a text: with one that begins with a digit only what does.
// mode: read
// param $where: list<map>: lists of terms: property, is, values, number, text, days, not; way and names are not read here
// returns: id
MATCH (d:Document)
WHERE all(clause IN $where WHERE any(term IN clause WHERE term.not <> coalesce(
  any(value IN [] + CASE term.property WHEN 'addedAt' THEN toString(d.addedAt) ELSE d[term.property] END WHERE CASE
    WHEN term.is = '=' THEN value IN term.values OR any(day IN term.days WHERE value STARTS WITH day + 'T')
    WHEN term.is = 'HAS' THEN NOT toLower(toStringOrNull(value)) IN ['false', 'no']
    WHEN term.is = 'CONTAINS' THEN any(part IN term.values WHERE toLower(value) CONTAINS part)
    WHEN term.is = 'ENDS WITH' THEN any(part IN term.values WHERE toLower(value) ENDS WITH part)
    ELSE any(pair IN CASE
        WHEN term.number IS NOT NULL AND toFloatOrNull(value) IS NOT NULL THEN [[toFloatOrNull(value), term.number]]
        WHEN value IS NOT :: STRING OR (term.text =~ '[0-9].*' AND NOT value =~ '[0-9].*') THEN []
        WHEN size(term.days) > 0 AND value =~ '.{10}T.*' THEN [[left(value, 10), term.text]]
        ELSE [[value, term.text]]
      END WHERE CASE term.is
        WHEN '<' THEN pair[0] < pair[1]
        WHEN '<=' THEN pair[0] <= pair[1]
        WHEN '>' THEN pair[0] > pair[1]
        ELSE pair[0] >= pair[1]
      END)
  END), false)))
RETURN d.id AS id
ORDER BY id

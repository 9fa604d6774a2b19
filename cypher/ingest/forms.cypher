// Which key element stands for which.
// mode: read
// returns: id, target, by, score
MATCH (k:KeyElement)-[form:FORM_OF]->(representative:KeyElement)
RETURN k.id AS id, representative.id AS target, form.by AS by, form.score AS score

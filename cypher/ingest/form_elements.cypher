// What decides the forms of key elements: pairs that mean nearly the same, and others that have the same stem, were
// forms of them, or had them as forms.
// mode: read
// param $ids: list<string>: key element ids
// returns: id, stem, isEntity, pending, name, passages, form, pairs, others
UNWIND $ids AS id
MATCH (k:KeyElement {id: id})
RETURN id, k.stem AS stem, k:Entity AS isEntity, k:Pending AS pending, k.name AS name,
       COUNT { (k)-[:FROM_CHUNK]->() } AS passages,
       COLLECT {
         MATCH (k)-[form:FORM_OF]->(o:KeyElement)
         RETURN [o.id, form.by, form.score]
       } AS form,
       COLLECT {
         MATCH (k)-[likeness:SAME_AS]-(o:KeyElement)
         WHERE NOT (k:Entity AND o:Entity)
         RETURN [o.id, likeness.score, o:Pending]
       } AS pairs,
       COLLECT {
         MATCH (o:KeyElement {stem: k.stem})
         WHERE o <> k
         RETURN o.id
         UNION
         MATCH (k)-[:FORM_OF]-(o:KeyElement)
         RETURN o.id
       } AS others

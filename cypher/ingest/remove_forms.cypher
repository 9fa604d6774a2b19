// Key elements that stand for themselves, or for another than before.
// mode: write
// param $ids: list<string>: key element ids
UNWIND $ids AS id
MATCH (:KeyElement {id: id})-[form:FORM_OF]->(:KeyElement)
DELETE form

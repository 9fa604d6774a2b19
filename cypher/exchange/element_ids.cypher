// Where nodes are, by their ids, so that relationships find their ends without an index for each kind.
// mode: read
// param $ids: map: ids by the label of their kind
// returns: id, element
CALL () {
  UNWIND $ids.Graph AS id
  MATCH (n:Graph {id: id})
  RETURN n
UNION ALL
  UNWIND $ids.Document AS id
  MATCH (n:Document {id: id})
  RETURN n
UNION ALL
  UNWIND $ids.Chunk AS id
  MATCH (n:Chunk {id: id})
  RETURN n
UNION ALL
  UNWIND $ids.KeyElement AS id
  MATCH (n:KeyElement {id: id})
  RETURN n
UNION ALL
  UNWIND $ids.Attribute AS id
  MATCH (n:Attribute {id: id})
  RETURN n
UNION ALL
  UNWIND $ids.Fact AS id
  MATCH (n:Fact {id: id})
  RETURN n
UNION ALL
  UNWIND $ids.Community AS id
  MATCH (n:Community {id: id})
  RETURN n
UNION ALL
  UNWIND $ids.Keyword AS id
  MATCH (n:Keyword {id: id})
  RETURN n
UNION ALL
  UNWIND $ids.Page AS id
  MATCH (n:Page {id: id})
  RETURN n
UNION ALL
  UNWIND $ids.ProposedType AS id
  MATCH (n:ProposedType {id: id})
  RETURN n
UNION ALL
  UNWIND $ids.Correction AS id
  MATCH (n:Correction {id: id})
  RETURN n
UNION ALL
  UNWIND $ids.Run AS id
  MATCH (n:Run {id: id})
  RETURN n
UNION ALL
  UNWIND $ids.Step AS id
  MATCH (n:Step {id: id})
  RETURN n
}
RETURN n.id AS id, elementId(n) AS element

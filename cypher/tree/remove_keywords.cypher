// Take the keywords of these communities away: others stand for them now.
// mode: write
// param $ids: list<string>: community ids
UNWIND $ids AS id
MATCH (:Community {id: id})<-[:KEYWORD_OF]-(k:Keyword)
DETACH DELETE k

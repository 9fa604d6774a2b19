// The path between two facts: from the document of the one over what both mention to the document of the other.
// mode: read
// param $one: string: the text of the one
// param $two: string: the text of the other
// returns: path
MATCH path = (:Document)<-[:FROM_DOCUMENT]-(:Chunk)<-[:FROM_CHUNK]-(:Fact {text: $one})-[:SUBJECT|OBJECT|MENTIONS]->
      (:Entity)<-[:SUBJECT|OBJECT|MENTIONS]-(:Fact {text: $two})-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(:Document)
RETURN path

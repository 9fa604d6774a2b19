// Whether anything is corrected.
// mode: read
// returns: any
RETURN EXISTS { (c:Correction) WHERE NOT c:Entity } AS any

// The files beneath a folder that the graph has documents of.
// mode: read
// param $folder: string: URI of the folder, with a slash at its end
// returns: source
MATCH (d:Document)
WHERE d.source STARTS WITH $folder
RETURN DISTINCT d.source AS source

// Take away the pages of one memory.
// mode: write
// param $memory: string: memory id
MATCH (p:Page {memory: $memory})
DETACH DELETE p

// How the pages of a memory are made, where that changes with no page.
// mode: write
// param $memory: string: memory id
// param $made: string: what boundaries and gists depend on
MATCH (p:Page {memory: $memory})
SET p.made = $made

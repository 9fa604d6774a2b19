// The pages of a memory, in order, with what is remembered of them.
// mode: read
// param $memory: string: memory id
// returns: page
MATCH (p:Page {memory: $memory})
RETURN {
  id: p.id, index: p.index, start: p.start, end: p.end, words: p.words, tokens: p.tokens,
  gist: p.gist, gist_words: coalesce(p.gistWords, 0), gist_tokens: coalesce(p.gistTokens, 0),
  flag: coalesce(p.flag, ''), again: coalesce(p.again, 0), final: coalesce(p.final, false)
} AS page
ORDER BY p.index

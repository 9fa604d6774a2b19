// Names as they fit into a picture.

const MOST_LETTERS = 26;

const segmenter = globalThis.Intl?.Segmenter ? new Intl.Segmenter() : null;

/**
 * A name on one line, of at most `most` letters as people count them.
 *
 * Marks that turn the direction of the text around them are left out: they would turn other words too.
 */
export function shortText(text, most = MOST_LETTERS) {
  const line = (text ?? "").slice(0, 40 * most).replace(/[\u202a-\u202e\u2066-\u2069]/g, "").replace(/[\s\p{Cc}]+/gu, " ").trim();
  if (line.length <= most) return line;
  const letters = segmenter ? Array.from(segmenter.segment(line), ({ segment }) => segment) : Array.from(line);
  return letters.length <= most ? line : `${letters.slice(0, most - 1).join("").trimEnd()}…`;
}

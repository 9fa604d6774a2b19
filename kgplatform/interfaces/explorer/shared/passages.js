// The words of documents where something stands: marked, with those around them; and the places that state a fact.

import { get } from "./api.js";
import { el, fill, placeButton } from "./dom.js";
import { counted, shortened, shownDays } from "./format.js";

const AROUND = 160;
const MARKED = 320;
const PLACES = 3;

/** The words of a place, marked, with those around them. */
export async function inPassage({ document: id, start, end }) {
  const { text, start: first, end: last, characters } = await get(`api/documents/${encodeURIComponent(id)}?${new URLSearchParams({ start: Math.max(0, start - AROUND), end: end + AROUND })}`);
  const letters = Array.from(text); // counted as the platform counts them: by code points, not by UTF-16 units
  const part = (from, to) => letters.slice(Math.max(0, from - first), Math.max(0, to - first)).join("");
  const [before, after] = [part(first, start), part(end, last)];
  return [first > 0 ? `…${before.replace(/^\S*/, "")}` : before, el("mark", {}, shortened(part(start, end), MARKED)), last < characters ? `${after.replace(/\S*$/, "")}…` : after];
}

/** A line with these words, once they are there. */
export function wordsAt(place) {
  const line = el("p", { class: "quote", dir: "auto" }, "…");
  inPassage(place).then((words) => fill(line, words), (fault) => fill(line, fault.message));
  return line;
}

/** The words that state a fact ({ text, citations }) first, and its places; `open(citation)` opens one. */
export function statedAt({ citations }, open) {
  const others = citations.length - PLACES;
  const notes = [!citations.some(shownDays) && "No time is said.", others > 0 && `${counted(others, "more place says", "more places say")} so.`].filter(Boolean);
  return [citations.length ? wordsAt(citations.find(({ found }) => found) ?? citations[0]) : null, placesOf(citations, open), notes.length ? el("p", { class: "muted" }, notes.join(" ")) : null];
}

export const placesOf = (citations, open) => el("p", { class: "places" }, citations.slice(0, PLACES).map((place) => placeButton(place, () => open(place))));

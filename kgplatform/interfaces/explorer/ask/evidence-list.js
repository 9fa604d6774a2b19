// What a search found, best first: passages, each with its best sentence; facts that speak to the question, and folded
// away those that do not; paths of facts, communities.

import { el, longList } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { counted, named } from "../shared/format.js";
import { placeButton } from "../shared/states.js";

const FOUND = 10;

/** `open(document, start, end)` opens a document there; `pick(node)` shows a node in the graph. */
export function evidenceList(result, { open, pick, unfolded = false }) {
  const parts = [
    result.fits === false ? el("p", { class: "note" }, "No passage is likely to answer this: these are only the nearest.") : null,
    fold("passage", result.passages, unfolded, (each) => passageItem(each, open)),
    fold("fact", result.facts.filter(speaks), unfolded, (each) => factItem(each, open)),
    fold("less relevant fact", result.facts.filter((each) => !speaks(each)), false, (each) => factItem(each, open), "less relevant facts"),
    fold("path", result.paths ?? [], false, pathItem),
    result.communities?.length ? fold("community", result.communities, false, (each) => communityItem(each, pick), "communities") : null,
  ];
  return el("section", { class: "evidence", "aria-label": "Evidence" }, parts);
}

/** Whether a fact speaks to the question; so do those that nobody judged. */
export const speaks = (fact) => fact.relevant !== false;

function fold(one, found, open, item, many = undefined) {
  if (!found.length) return null;
  return el("details", { open }, el("summary", {}, icon("down"), counted(found.length, one, many)), longList(el("ol"), found, FOUND, item));
}

function passageItem(passage, open) {
  const best = passage.sentence ?? passage;
  return el("li", { class: "passage" },
    placeButton({ ...passage, start: best.start, end: best.end, location: best.location }, open),
    el("span", { class: "muted routes" }, [...relevance(passage), ...passage.routes].join(", ")),
    el("p", { dir: "auto", class: "clamp" }, best.text),
    passage.copies.length ? el("p", { class: "muted places" }, "The same text: ", passage.copies.slice(0, 3).map((copy) => placeOf(copy, open))) : null);
}

const placeOf = (place, open) => placeButton(place, open, named(place.title));

const relevance = (passage) => (passage.relevance == null ? [] : [`relevance ${passage.relevance.toFixed(2)}`]);

function factItem(fact, open) {
  return el("li", {}, el("span", { dir: "auto" }, fact.text),
    el("span", { class: "places" }, fact.citations.slice(0, 3).map((place) => placeOf(place, open))));
}

function pathItem(path) {
  return el("li", { class: "path", dir: "auto" }, path.names.map((name, at) =>
    at === 0 ? el("strong", {}, named(name)) : [el("span", { class: "muted" }, path.forward[at - 1] ? ` — ${path.predicates[at - 1]} → ` : ` ← ${path.predicates[at - 1]} — `), el("strong", {}, named(name))]));
}

function communityItem(community, pick) {
  return el("li", {}, el("button", { class: "place", type: "button", on: { click: () => pick(community) } }, icon("tree"), named(community.name)),
    el("p", { class: "muted clamp", dir: "auto" }, community.summary));
}

// Kept answers that no longer stand, with what they cited and what stands there now, side by side.

import { get } from "../shared/api.js";
import { el, fill, icon } from "../shared/dom.js";
import { named } from "../shared/format.js";
import { routeTo } from "../shared/router.js";

const STANDING = new Set(["stands", "moved"]);

/** A line that says so, which opens; empty until the server has looked, and where all stand. */
export function recheckNote() {
  const element = el("div");
  get("api/runs/recheck").then(({ answers, summary }) => {
    const shaken = answers.filter(({ state }) => !STANDING.has(state));
    if (shaken.length) fill(element, el("details", { class: "problems" }, el("summary", {}, icon("warning"), summary), el("ul", {}, shaken.map(answer))));
  }).catch(() => {}); // it is told elsewhere that the server is gone
  return element;
}

function answer({ run, question, state, sentences, better }) {
  return el("li", {}, el("a", { href: routeTo("runs", { run }), dir: "auto" }, named(question)), ` ${state}`,
    sentences.filter((each) => !STANDING.has(each.state)).map(sentence),
    better && beside("", "", `Ranks higher now: ${better.title}`, better.sentence?.text ?? better.text));
}

function sentence({ state, then, now, against }) {
  const told = { lost: ["Lost", ""], changed: ["Now", now?.text ?? ""], contradicted: ["Contradicted by", against?.text ?? ""] }[state];
  return beside(`Cited: ${then.title}`, then.text, ...told);
}

const beside = (...told) => el("div", { class: "then-now" }, [told.slice(0, 2), told.slice(2)].map(([name, text]) =>
  el("div", {}, el("span", { class: "muted", dir: "auto" }, name), el("p", { dir: "auto" }, text))));

// Corrections: entities that are likely one, to work through with the keyboard, and all that was corrected by hand.

import { get, mayChange } from "../shared/api.js";
import { button, el, emptyState, failure, fill, icon, loading } from "../shared/dom.js";
import { swatch } from "../shared/colors.js";
import { counted, moment, named } from "../shared/format.js";
import { routeTo } from "../shared/router.js";
import { appliesTo, correct, corrections, undo } from "./correct.js";

const MOST = 100;
const MOVES = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };
const KEYS = { a: "accept", r: "refuse" };

export function createView({ stage }) {
  const problem = el("div");
  const pairs = el("ul", { class: "pairs", tabindex: "-1", "aria-label": "Likely duplicates" });
  const list = el("ul", { class: "run-list" });
  const key = (word) => el("kbd", {}, word);
  const element = el("div", { class: "view corrections-view" },
    el("a", { class: "back-link", href: routeTo("graph") }, icon("back"), "Graph"), el("h1", {}, "Duplicates and corrections"), problem,
    mayChange() ? el("section", { "aria-label": "Likely duplicates" }, el("h2", {}, "Likely duplicates"),
      el("p", { class: "muted" }, key("↑"), key("↓"), " or ", key("k"), key("j"), " another pair · ", key("a"), " the same · ", key("r"), " not the same · ", key("u"), " undo · ", key("←"), key("→"), " the card of one"), pairs)
      : el("p", { class: "note" }, "This server is read-only: nothing can be corrected."),
    el("section", { "aria-label": "Corrections" }, el("h2", {}, "Corrections"), list));
  /** Pairs that are being decided. */
  const waiting = new Set();
  let found = [];
  let asked = 0;

  corrections.addEventListener("change", () => element.isConnected && load());
  pairs.addEventListener("keydown", onKey);
  pairs.addEventListener("focusin", ({ target }) => {
    for (const row of pairs.children) (row.tabIndex = row.contains(target) ? 0 : -1);
  });

  async function load() {
    const mine = (asked += 1);
    try {
      const [{ duplicates }, told] = await Promise.all([mayChange() ? get(`api/corrections/duplicates?limit=${MOST}`) : { duplicates: [] }, get("api/corrections")]);
      if (mine !== asked) return; // a newer one was asked
      fill(problem);
      drawPairs(duplicates);
      fill(list, told.corrections.length ? told.corrections.toReversed().map(item) : el("li", { class: "muted" }, "Nothing was corrected yet."));
    } catch (fault) {
      fill(problem, failure(fault, load));
    }
  }

  /** The keyboard stays at the pair where it is, or at the one that takes its place. */
  function drawPairs(now) {
    const hadFocus = pairs.contains(document.activeElement);
    const at = [...pairs.children].findIndex((row) => (hadFocus ? row.contains(document.activeElement) : row.tabIndex === 0));
    const held = found[at] && now.findIndex((pair) => keyOf(pair) === keyOf(found[at]));
    found = now;
    fill(pairs, found.length ? found.map(row) : el("li", {}, emptyState("check", "No likely duplicates", "No two entities have names that are alike, but for those that were told apart.")));
    point(Math.min(held >= 0 ? held : Math.max(at, 0), found.length - 1), { focus: hadFocus });
  }

  function point(at, { focus = true } = {}) {
    if (!found[at]) return focus && pairs.focus();
    [...pairs.children].forEach((row, number) => (row.tabIndex = number === at ? 0 : -1));
    if (focus) pairs.children[at].focus();
  }

  function row(pair) {
    const decides = (action, label) => button(null, label, () => decide(pair, action), { "aria-label": `${label}: ${pair.names.map(named).join(" and ")}` });
    return el("li", { class: waiting.has(keyOf(pair)) ? "pair waiting" : "pair", tabindex: "-1" }, el("div", { class: "pair-names" }, entity(pair, 0), entity(pair, 1)),
      el("span", { class: "muted" }, `${Math.round(100 * pair.score)} % alike`), el("div", { class: "actions" }, decides("accept", "The same"), decides("refuse", "Not the same")));
  }

  const entity = ({ one, other, names, types, passages }, at) => el("p", {}, swatch(types[at] ?? "Entity", "Entity"),
    button(null, named(names[at]), () => card({ id: [one, other][at], name: names[at] }), { class: "link", dir: "auto" }), el("span", { class: "muted" }, `${types[at] ?? "no type"}, ${counted(passages[at], "passage")}`));

  const card = (node) => (stage.showGraph(), stage.graph.goTo(node));

  function onKey(event) {
    const at = [...pairs.children].findIndex((row) => row.contains(event.target));
    if (!found[at] || event.ctrlKey || event.metaKey || event.altKey) return;
    const { one, other, names } = found[at];
    if (Object.hasOwn(MOVES, event.key)) point(Math.max(0, Math.min(found.length - 1, at + MOVES[event.key])));
    else if (Object.hasOwn(KEYS, event.key)) decide(found[at], KEYS[event.key]);
    else if (event.key === "ArrowLeft") card({ id: one, name: names[0] });
    else if (event.key === "ArrowRight") card({ id: other, name: names[1] });
    else if (event.key === "u") undo();
    else return;
    event.preventDefault(); // it is no key of the page
  }

  /** The next pair can be looked at while this one is being decided. */
  async function decide(pair, action) {
    if (waiting.has(keyOf(pair))) return;
    waiting.add(keyOf(pair));
    const at = found.indexOf(pair);
    pairs.children[at].classList.add("waiting");
    if (found.length > at + 1) point(at + 1);
    await correct({ action, one: pair.one, other: pair.other }).catch((fault) => fill(problem, failure(fault)));
    waiting.delete(keyOf(pair));
    pairs.children[found.indexOf(pair)]?.classList.remove("waiting");
  }

  const item = (each) => el("li", { class: "correction card" }, el("strong", { dir: "auto" }, each.text), each.why && el("p", { dir: "auto" }, each.why),
    el("p", { class: "muted" }, `${each.who} · ${moment(each.at)} · ${appliesTo(each)}`),
    mayChange() && button("undo", "Undo", ({ currentTarget }) => ((currentTarget.disabled = true), undo([each]).finally(() => (currentTarget.disabled = false))), { "aria-label": `Undo: ${each.text}` }));

  async function show() {
    if (!found.length) fill(list, el("li", {}, loading()));
    await load();
    if (document.activeElement === document.body || document.activeElement?.contains(pairs)) point(0); // to begin with the keys
  }

  return { element, title: "Corrections", show, focus: () => point(0) };
}

const keyOf = ({ one, other }) => `${one} ${other}`;

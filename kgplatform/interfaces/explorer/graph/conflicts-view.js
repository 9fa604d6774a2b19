// Conflicts: what texts contradict each other in, both sides beside each other in the words of their passages.

import { get, mayChange } from "../shared/api.js";
import { button, el, emptyState, failure, fill, freshId, icon, linkButton, loading, longList } from "../shared/dom.js";
import { counted, named, readable } from "../shared/format.js";
import { statedAt } from "../shared/passages.js";
import { routeTo } from "../shared/router.js";
import { askCorrection, corrections } from "./correct.js";
import { notSo } from "./node-card.js";

const MOST = 200;
const SHOWN = 20;

export function createView({ stage }) {
  const place = el("div", {});
  const said = el("p", { class: "muted", role: "status" });
  const element = el("div", { class: "view conflicts-view" }, el("a", { class: "back-link", href: routeTo("graph") }, icon("back"), "Graph"), el("h1", {}, "Conflicts"), said, place);
  const open = ({ document, start, end }) => stage.open(document, start, end);
  let asked = 0;

  corrections.addEventListener("change", () => element.isConnected && show());

  async function show() {
    const mine = (asked += 1);
    if (!place.children.length) fill(place, loading());
    try {
      const { conflicts } = await get(`api/conflicts?limit=${MOST}`);
      if (mine !== asked) return; // a newer one was asked
      said.textContent = conflicts.length ? `${conflicts.length < MOST ? counted(conflicts.length, "pair") : `The first ${MOST} pairs`} of facts that cannot both be so at the same time, as the schema has it.` : "";
      fill(place, conflicts.length ? longList(el("ul", { class: "conflicts" }), conflicts, SHOWN, item) : emptyState("check", "No conflicts",
        "A conflict is found where passages give a thing two values, at the same time, of a relation or an attribute that the schema marks with “single: true”.", linkButton(routeTo("schema"), "Look at the schema")));
    } catch (fault) {
      fill(place, failure(fault, show));
    }
  }

  function item({ id, subject, name, facts }) {
    const side = (fact) => {
      const says = freshId("side");
      return el("div", { class: "side", role: "group", "aria-labelledby": says }, el("h3", { id: says, dir: "auto" }, fact.text), statedAt(fact, open), mayChange() && notSo([fact.id], fact.text));
    };
    return el("li", { class: "card" }, el("div", { class: "section-head" },
      el("h2", {}, el("a", { href: routeTo("graph", { page: id }), dir: "auto" }, named(subject)), ` · ${readable(name)}`),
      mayChange() && button("pen", "Correct…", () => askCorrection(id), { "aria-label": `Correct ${named(subject)}…` })),
    el("div", { class: "sides" }, facts.map(side)));
  }

  return { element, title: "Conflicts", wide: true, show, focus: () => element.querySelector("a")?.focus() };
}

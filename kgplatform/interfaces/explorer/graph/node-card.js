// What is known of one node: its properties, the facts about it, and each place in the documents that states one.

import { copyText, el, fill, longList } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { get } from "../shared/api.js";
import { count, counted, moment, named, readable } from "../shared/format.js";
import { legendKey, swatch, typeName } from "../shared/legend.js";
import { failure, placeButton } from "../shared/states.js";
import { routeTo } from "../shared/router.js";

/** What is shown in another place, and what is there for the platform alone. */
const LEFT_OUT = new Set([
  ...["id", "name", "text", "summary", "gist", "type", "document", "start", "end", "source"],
  ...["embedding", "key", "stem", "nameWords", "words", "consonants", "joinDue", "treeDue", "inSchema", "center", "level", "signature", "sha256", "index"],
  ...["state", "locations", "locationStarts", "factsBy", "unreadBy", "factsUnreadBy", "claimedBy", "leftOut", "seed", "boundBy"],
  ...["kept", "mapped", "dropped", "offSchema", "turned", "unnamed", "found", "notFound", "duplicates", "malformedKinds", "malformedCounts"],
]);
const COUNTS = new Set(["characters", "tokens", "gistWords", "gistTokens", "size", "calls", "inputTokens", "outputTokens"]);
const languages = new Intl.DisplayNames("en", { type: "language" });
const FACTS = 8;
/** What the facts of a node are to it; those of all others are about it. */
const FACTS_OF = { Chunk: "stated here", Step: "found here" };

export class NodeCard {
  /** `does`: { close(), expand(node), hide(node), pick(id), open(document, start, end) }. */
  constructor(does) {
    this.does = does;
    this.element = el("aside", { class: "node-card", "aria-label": "The chosen node", hidden: true });
    this.shown = null;
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape") (event.stopPropagation(), this.does.close());
    });
  }

  /** Show the node with this id; `node` is what is known of it so far. */
  async show(id, node = null) {
    this.shown = id;
    this.element.hidden = false;
    fill(this.element, this.#head(node ?? { id, name: "…", kind: "", type: null }), el("p", { class: "muted" }, "Loading …"));
    try {
      const details = await get(`api/graph/nodes/${encodeURIComponent(id)}`);
      if (this.shown === id) this.#draw(details);
    } catch (fault) {
      if (this.shown === id) fill(this.element, this.#head(node ?? { id, name: id, kind: "", type: null }), failure(fault));
    }
  }

  hide() {
    this.shown = null;
    this.element.hidden = true;
  }

  #head(node) {
    const close = el("button", { class: "quiet icon-only", type: "button", "aria-label": "Close the card", on: { click: this.does.close } }, icon("close"));
    return el("header", {},
      el("div", { class: "node-title" }, el("h2", { dir: "auto" }, named(node.name)),
        node.kind && el("p", { class: "muted chip-line" }, swatch(legendKey(node), node.kind), el("span", { class: "ellipsis" }, typeName(node)), node.degree !== undefined && el("span", {}, `· ${counted(node.degree, "connection")}`))),
      close);
  }

  #draw(details) {
    const { node } = details;
    fill(this.element, this.#head(node), this.#actions(node, details.properties),
      node.text && el("p", { class: "node-text", dir: "auto" }, node.text),
      properties(details.properties, node), this.#facts(node, details.facts), this.#communities(details.communities));
  }

  #actions(node, { document: source, start, end }) {
    const place = { Document: [node.id, null, null], Chunk: source && [source, start, end] }[node.kind];
    const link = el("button", { class: "small", type: "button", on: { click: () => copyText(new URL(routeTo("graph", { node: node.id }), document.baseURI).href, link) } }, icon("link"), el("span", {}, "Copy link"));
    return el("div", { class: "actions" },
      place && el("button", { class: "small", type: "button", on: { click: () => this.does.open(...place) } }, icon("document"), "Open"),
      node.kind === "Entity" || node.kind === "KeyElement" ? el("a", { class: "button small", href: routeTo("graph", { page: node.id, node: node.id }) }, icon("document"), "As a page") : null,
      el("button", { class: "small", type: "button", on: { click: () => this.does.expand(node) } }, icon("expand"), "Expand"),
      el("button", { class: "small", type: "button", on: { click: () => this.does.hide(node) } }, icon("hide"), "Hide"), link);
  }

  #facts(node, facts) {
    const grouped = new Map();
    for (const fact of facts) grouped.set(fact.id, [...(grouped.get(fact.id) ?? []), fact]);
    if (!grouped.size) return null;
    const heading = node.kind === "Fact" ? "Where it is stated" : `${counted(grouped.size, "fact")} ${FACTS_OF[node.kind] ?? "about it"}`;
    return el("section", {}, el("h3", {}, heading), longList(el("ul", { class: "facts" }), [...grouped.values()], FACTS, this.#fact.bind(this)));
  }

  #fact(places) {
    return el("li", {}, el("span", { dir: "auto" }, places[0].text),
      el("span", { class: "places" }, places.map((place) => placeButton(place, this.does.open))));
  }

  #communities(communities) {
    if (!communities.length) return null;
    return el("section", {}, el("h3", {}, "Belongs to"),
      el("div", { class: "chips" }, communities.map((each) =>
        el("button", { class: "chip", type: "button", on: { click: () => this.does.pick(each) } }, swatch(each.kind, each.kind), named(each.name)))));
  }
}

function properties(values, node) {
  const shown = Object.entries(values).filter(([key, value]) => !LEFT_OUT.has(key) && value !== null && value !== "" && String(value) !== node.text);
  if (!shown.length) return null;
  return el("dl", { class: "properties" }, shown.map(([key, value]) =>
    [el("dt", {}, readable(key.replace(/^meta_/, "").replace(/([a-z])([A-Z])/g, "$1 $2"))), el("dd", { dir: "auto" }, written(key, value))]));
}

function written(key, value) {
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "object") return JSON.stringify(value);
  if (COUNTS.has(key)) return count(value);
  if (key === "language" && /^[a-z]{2,3}$/.test(value)) return languages.of(value);
  return key === "at" || key.endsWith("At") ? moment(value) : String(value);
}

// What is known of one node: its properties, the facts about it, and each place in the documents that states one.

import { get, mayChange } from "../shared/api.js";
import { button, copyButton, el, failure, fill, icon, iconButton, linkCopier, longList, placeButton } from "../shared/dom.js";
import { count, counted, moment, named, readable, shortened } from "../shared/format.js";
import { legendKey, swatch, typeName } from "../shared/colors.js";
import { wordsAt } from "../shared/passages.js";
import { routeTo } from "../shared/router.js";
import { askCorrection, correctButton } from "./correct.js";
import { timeline } from "./timeline.js";

/** What is shown in another place, and what is there for the platform alone. */
const LEFT_OUT = new Set([
  ...["id", "name", "text", "summary", "gist", "type", "document", "start", "end", "source"],
  ...["embedding", "key", "stem", "nameWords", "words", "exact", "consonants", "joinDue", "treeDue", "inSchema", "center", "level", "signature", "sha256", "given", "index"],
  ...["state", "locations", "locationStarts", "factsBy", "unreadBy", "factsUnreadBy", "claimedBy", "leftOut", "notKept", "seed", "boundBy", "restsOn", "foundThen", "askedWith"],
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
    return el("header", {},
      el("div", { class: "node-title" }, el("h2", { dir: "auto" }, named(node.name)),
        node.kind && el("p", { class: "muted chip-line" }, swatch(legendKey(node), node.kind), el("span", { class: "ellipsis" }, typeName(node)), node.degree !== undefined && el("span", {}, `· ${counted(node.degree, "connection")}`))),
      iconButton("close", "Close the card", this.does.close));
  }

  #draw(details) {
    const { node } = details;
    fill(this.element, this.#head(node), this.#actions(node, details.properties),
      node.text && el("p", { class: "node-text", dir: "auto" }, node.text),
      properties(details.properties, node), this.#facts(node, details.facts), this.#communities(details.communities));
  }

  #actions(node, { document: source, start, end }) {
    const place = { Document: [node.id, null, null], Chunk: source && [source, start, end] }[node.kind];
    const hasPage = node.kind === "Entity" || node.kind === "KeyElement";
    return el("div", { class: "actions" },
      place && button("document", "Open", () => this.does.open(...place)),
      hasPage && el("a", { class: "button small", href: routeTo("graph", { page: node.id, node: node.id }) }, icon("document"), "As a page"),
      node.kind === "Entity" && mayChange() && button("pen", "Correct…", () => askCorrection(node.id)),
      node.kind === "Fact" && mayChange() && notSo([node.id], node.text || node.name, { class: "small" }),
      button("expand", "Expand", () => this.does.expand(node)), button("hide", "Hide", () => this.does.hide(node)),
      linkCopier(() => routeTo("graph", { node: node.id })));
  }

  #facts(node, facts) {
    const grouped = new Map();
    for (const fact of facts) grouped.set(fact.id, [...(grouped.get(fact.id) ?? []), fact]);
    if (!grouped.size) return null;
    const heading = node.kind === "Fact" ? "Where it is stated" : `${counted(grouped.size, "fact")} ${FACTS_OF[node.kind] ?? "about it"}`;
    const item = (places) => el("li", {}, el("span", { dir: "auto" }, places[0].text), el("span", { class: "places" }, places.map((place) => placeButton(place, this.does.open))));
    return el("section", {}, el("h3", {}, heading), longList(el("ul", { class: "facts" }), [...grouped.values()], FACTS, item));
  }

  #communities(communities) {
    if (!communities.length) return null;
    const chip = (each) => button(null, [swatch(each.kind), named(each.name)], () => this.does.pick(each), { class: "chip" });
    return el("section", {}, el("h3", {}, "Belongs to"), el("div", { class: "chips" }, communities.map(chip)));
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

// An entity as a page: its relations by type, its attributes, what is likely the same, and where all of it is stated.

const PLACES = 3;

/** The page of a profile. `open(document, start, end)` opens a document; `show(node)` brings a node into the picture. */
export function entityPage(profile, { open, show }) {
  const { node, aliases, communities, documents } = profile;
  const short = shortened(named(node.name), 40);
  const isOpen = node.kind === "Entity" && mayChange();
  const wrong = (facts, text) => isOpen && notSo(facts, text);
  const judged = (action, label, other) => isOpen && correctButton(null, label, { action, one: node.id, other: other.id }, { "aria-label": `${label}: ${named(other.name)}` });
  return el("article", { class: "entity-page", "aria-label": named(node.name) },
    el("a", { class: "back-link", href: routeTo("graph") }, icon("back"), "All nodes"),
    el("h1", { dir: "auto" }, named(node.name)),
    el("p", { class: "muted chip-line" }, swatch(legendKey(node), node.kind), typeName(node), ` · ${counted(node.degree, "connection")}`),
    aliases.length ? el("p", { dir: "auto" }, el("span", { class: "muted" }, "Also called "), aliases.join(", ")) : null,
    el("div", { class: "actions" }, isOpen && [button("pen", "Correct…", () => askCorrection(node.id)), button("plus", "Add a fact", () => askCorrection(node.id, "add"))],
      button("node", "Show in the graph", () => show(node)), copyButton(() => window.location.href, { label: "Copy link", symbol: "link" })),
    timeline(statementsOf(profile), open),
    profile.relations.map((group) => section(relates(group, short, "…"), group.related, (each) => [pageLink(each.node), said(each.sentence), places(each.places, open), wrong(each.facts, relates(group, short, named(each.node.name)))])),
    section("Attributes", profile.attributes, (value) => [el("strong", { dir: "auto" }, value.name), " ", el("span", { dir: "auto" }, value.value), said(value.sentence), places(value.places, open), wrong([value.fact], `${value.name}: ${value.value}`)]),
    section("Also stated", profile.sentences, (sentence) => [el("span", { dir: "auto" }, sentence.text), places(sentence.places, open), wrong([sentence.fact], sentence.text)]),
    section("Likely the same", profile.alike, ({ node: other, score, by, places: [place] }) => [pageLink(other), el("span", { class: "muted" }, ` ${WHY[by] ?? readable(by)}${place ? "" : `, ${Math.round(100 * score)} %`}`), place && [wordsAt(place), placeButton(place, open)], judged("accept", "The same", other), judged("refuse", "Not the same", other)]),
    section("Documents", documents, (source) => [
      placeButton({ ...source, end: source.start + 1 }, open, named(source.title)),
      el("span", { class: "muted" }, ` ${counted(source.passages, "passage")}`)]),
    communities.length ? el("section", {}, el("h2", {}, "Belongs to"), el("div", { class: "chips" }, communities.map((each) =>
      el("a", { class: "chip button", href: routeTo("graph", { community: each.id }) }, swatch(each.kind), named(each.name))))) : null);
}

/** What a relation says: "Cyrus Field founded …" where it begins at the entity, "… founded Cyrus Field" where it leads to it. */
const relates = ({ label, forward }, name, other) => (forward ? `${name} ${label} ${other}` : `${other} ${label} ${name}`);

/** All that a profile says, each as { text, places }. */
const statementsOf = ({ relations, attributes, sentences }) => [
  ...relations.flatMap((group) => group.related.map(({ node, places: at }) => ({ text: relates(group, "…", named(node.name)), places: at }))),
  ...attributes.map((value) => ({ text: `${value.name}: ${value.value}`, places: value.places })), ...sentences];

/** Why two are likely the same, as `by` of a profile has it. */
const WHY = { name: "The names are alike", meaning: "They mean nearly the same", stated: "A passage says that they are one", acronym: "The one is short for the other", part: "A passage names it by a part of its name" };

function section(title, list, content) {
  if (!list.length) return null;
  return el("section", {}, el("h2", { dir: "auto" }, title), longList(el("ul", { class: "facts" }), list, FACTS, (each) => el("li", {}, content(each))));
}

/** Takes facts (ids) that say `text` out of the graph. */
export const notSo = (facts, text, more = { class: "quiet small not-so" }) => correctButton("close", "Not so", facts.map((fact) => ({ action: "drop", fact })), { "aria-label": `Not so: ${text}`, ...more });

/** Leads to the page of an entity. */
const pageLink = (node) => el("a", { class: "entity-link", href: routeTo("graph", { page: node.id }) }, swatch(legendKey(node), node.kind), el("span", { dir: "auto" }, named(node.name)));

const said = (sentence) => sentence && el("p", { class: "muted", dir: "auto" }, sentence);

function places(list, open) {
  const shown = list.slice(0, PLACES).map((place) => placeButton(place, open));
  return el("span", { class: "places" }, shown, list.length > PLACES ? el("span", { class: "muted" }, `and ${counted(list.length - PLACES, "more place", "more places")}`) : null);
}

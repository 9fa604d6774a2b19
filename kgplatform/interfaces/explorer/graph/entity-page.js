// An entity as a page: its relations by type, its attributes, what is likely the same, and where all of it is stated.

import { copyText, el, longList } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { counted, named, shortened } from "../shared/format.js";
import { legendKey, swatch, typeName } from "../shared/legend.js";
import { routeTo } from "../shared/router.js";
import { placeButton } from "../shared/states.js";

const SHOWN = 8;
const PLACES = 3;

/** The page of a profile. `open(document, start, end)` opens a document; `show(node)` brings a node into the picture. */
export function entityPage(profile, { open, show }) {
  const { node, aliases, communities, documents } = profile;
  const short = shortened(named(node.name), 40);
  const link = el("button", { class: "small", type: "button", on: { click: () => copyText(window.location.href, link) } }, icon("link"), el("span", {}, "Copy link"));
  return el("article", { class: "entity-page", "aria-label": named(node.name) },
    el("a", { class: "back-link", href: routeTo("graph") }, icon("back"), "All nodes"),
    el("h1", { dir: "auto" }, named(node.name)),
    el("p", { class: "muted chip-line" }, swatch(legendKey(node), node.kind), typeName(node), ` · ${counted(node.degree, "connection")}`),
    aliases.length ? el("p", { dir: "auto" }, el("span", { class: "muted" }, "Also called "), aliases.join(", ")) : null,
    el("div", { class: "actions" }, el("button", { class: "small", type: "button", on: { click: () => show(node) } }, icon("node"), "Show in the graph"), link),
    profile.relations.map((group) => relations(group, short, open)),
    section("Attributes", profile.attributes, (value) => [el("strong", { dir: "auto" }, value.name), " ", el("span", { dir: "auto" }, value.value), said(value.sentence), places(value.places, open)]),
    section("Also stated", profile.sentences, (sentence) => [el("span", { dir: "auto" }, sentence.text), places(sentence.places, open)]),
    section("Likely the same", profile.alike, ({ node: other, score }) => [pageLink(other), el("span", { class: "muted" }, ` ${Math.round(100 * score)} % alike`)]),
    section("Documents", documents, (source) => [
      placeButton({ ...source, end: source.start + 1 }, open, named(source.title)),
      el("span", { class: "muted" }, ` ${counted(source.passages, "passage")}`)]),
    communities.length ? el("section", {}, el("h2", {}, "Belongs to"), el("div", { class: "chips" }, communities.map((each) =>
      el("a", { class: "chip button", href: routeTo("graph", { community: each.id }) }, swatch(each.kind, each.kind), named(each.name))))) : null);
}

/** "Cyrus Field founded …" where they begin at the entity, "… founded Cyrus Field" where they lead to it. */
function relations({ label, forward, related }, short, open) {
  return section(forward ? `${short} ${label} …` : `… ${label} ${short}`, related, (each) => [pageLink(each.node), said(each.sentence), places(each.places, open)]);
}

function section(title, list, content) {
  if (!list.length) return null;
  return el("section", {}, el("h2", { dir: "auto" }, title), longList(el("ul", { class: "facts" }), list, SHOWN, (each) => el("li", {}, content(each))));
}

/** Leads to the page of an entity. */
function pageLink(node) {
  return el("a", { class: "entity-link", href: routeTo("graph", { page: node.id }) }, swatch(legendKey(node), node.kind), el("span", { dir: "auto" }, named(node.name)));
}

function said(sentence) {
  return sentence ? el("p", { class: "muted", dir: "auto" }, sentence) : null;
}

function places(list, open) {
  const shown = list.slice(0, PLACES).map((place) => placeButton(place, open));
  return el("span", { class: "places" }, shown, list.length > PLACES ? el("span", { class: "muted" }, `and ${counted(list.length - PLACES, "more place", "more places")}`) : null);
}

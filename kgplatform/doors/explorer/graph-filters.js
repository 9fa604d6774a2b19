// Which part of the graph is drawn: by type, relation, community, document and facts. The address has it, too.

import { el, fill, freshId } from "./dom.js";
import { icon } from "./icons.js";
import { get } from "./api.js";
import { choiceBox } from "./choice-box.js";
import { count, named, readable } from "./format.js";
import { setParameters } from "./router.js";

/** The parameters of an address that choose a part of the graph. */
export const FILTERS = ["type", "relation", "community", "document", "least"];
const PROPOSED = 50;

/** Of an address's parameters those that choose a part of the graph, or null where there is none. */
export function filtersIn(parameters) {
  const given = FILTERS.filter((name) => parameters[name]).map((name) => [name, parameters[name]]);
  return given.length ? Object.fromEntries(given) : null;
}

/** { element, set(parameters) }: what is chosen goes into the address, and `set` brings the form to what it says. */
export function filterForm() {
  const id = freshId("filters");
  const choose = (name, value) => setParameters({ [name]: value || null, from: null, to: null, around: null, view: null, page: null });
  const select = (name) => el("select", { id: `${id}-${name}`, on: { change: (event) => choose(name, event.target.value) } });
  const [type, relation] = [select("type"), select("relation")];
  const least = el("input", { id: `${id}-least`, type: "number", min: "0", step: "1", placeholder: "0", on: { change: (event) => choose("least", Number(event.target.value) > 0 ? event.target.value : null) } });
  const community = choiceBox({ label: "Community", placeholder: "Any", look: communities, nameOf: async (each) => named((await get(`api/communities/${encodeURIComponent(each)}?limit=1`)).node.node.name), onChoose: (value) => choose("community", value) });
  const document = choiceBox({ label: "Document", placeholder: "Any", look: documents, nameOf: async (each) => named((await get(`api/documents/${encodeURIComponent(each)}?start=0&end=0`)).title), onChoose: (value) => choose("document", value) });
  const field = (name, label, control) => el("p", { class: "field" }, el("label", { for: `${id}-${name}` }, label), control);
  const clear = el("button", { class: "small", type: "button", hidden: true, on: { click: () => setParameters(Object.fromEntries(FILTERS.map((name) => [name, null]))) } }, icon("close"), "Clear");
  const summary = el("summary", {}, icon("down"), "Filters");
  const element = el("details", { class: "graph-filters" }, summary,
    el("div", { class: "options-grid" }, field("type", "Type", type), field("relation", "Relation", relation), community.element, document.element, field("least", "Facts, at least", least)), clear);
  let loaded = null;
  let current = {};

  element.addEventListener("toggle", () => element.open && load());

  function load() {
    loaded ??= get("api/schema/figures").then((figures) => drawOptions(figures)).catch(() => (loaded = null)); // the next time tries again
    return loaded;
  }

  function drawOptions({ types, relations }) {
    const sums = new Map();
    for (const { type: name, count: number } of relations) sums.set(name, (sums.get(name) ?? 0) + number);
    const options = (list, text) => [el("option", { value: "" }, "Any"), ...list.map(([name, number]) => el("option", { value: name }, `${text(name)} (${count(number)})`))];
    fill(type, options(types.map(({ name, count: number }) => [name, number]), (name) => name));
    fill(relation, options([...sums].sort(([, one], [, other]) => other - one), readable));
    drawChosen();
  }

  /** What the address has is chosen, even where the graph has no such type any more. */
  function drawChosen() {
    for (const [control, name] of [[type, "type"], [relation, "relation"]]) {
      const value = current[name] ?? "";
      if (value && ![...control.options].some((option) => option.value === value)) control.append(el("option", { value }, readable(value)));
      control.value = value;
    }
    least.value = current.least ?? "";
  }

  function set(parameters) {
    current = filtersIn(parameters) ?? {};
    clear.hidden = !Object.keys(current).length;
    if (!clear.hidden) (element.open = true), load();
    drawChosen();
    community.set(current.community ?? null);
    document.set(current.document ?? null);
  }

  return { element, set, refresh: () => (loaded = null) };
}

async function communities(text) {
  if (!text) return (await get(`api/communities?limit=${PROPOSED}`)).nodes.map(({ id, name }) => ({ id, name: named(name) }));
  const { nodes } = await get(`api/graph/find?${new URLSearchParams({ text, limit: 100 })}`);
  return nodes.filter(({ kind }) => kind === "Community").map(({ id, name }) => ({ id, name: named(name) }));
}

async function documents(text) {
  const { documents: found } = await get(`api/document-page?${new URLSearchParams({ text, limit: PROPOSED })}`);
  return found.map(({ id, title }) => ({ id, name: named(title) }));
}

// Which part of the graph is drawn: by type, relation, community, document, metadata and facts. The address has it, too.

import { get } from "../shared/api.js";
import { button, el, fill, freshId, icon } from "../shared/dom.js";
import { choiceBox } from "../shared/fields.js";
import { count, counted, named, readable } from "../shared/format.js";
import { setParameters } from "../shared/router.js";

/** The parameters of an address that choose a part of the graph. */
export const FILTERS = ["type", "relation", "community", "document", "least", "where"];
const PROPOSED = 50;
/** Names of metadata that have a field, and values of each that can be chosen: those of most documents. */
const MOST_NAMES = 8;
const MOST_VALUES = 1000;

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
  const metadata = metadataFields((where) => choose("where", where));
  const clear = button("close", "Clear", () => setParameters(Object.fromEntries(FILTERS.map((name) => [name, null]))), { hidden: true });
  const element = el("details", { class: "graph-filters" }, el("summary", {}, icon("down"), "Filters"),
    el("div", { class: "options-grid" }, field("type", "Type", type), field("relation", "Relation", relation), community.element, document.element, field("least", "Facts, at least", least)), metadata.element, clear);
  let loaded = null;
  let current = {};

  element.addEventListener("toggle", () => element.open && load());

  function load() {
    loaded ??= Promise.all([get("api/schema/figures").then(drawOptions), metadata.load()]).catch(() => (loaded = null)); // the next time tries again
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
    metadata.set(current.where);
  }

  return { element, set, refresh: () => (loaded = null) };
}

/** The metadata that an address asks for: { name: value }. What cannot be read is none; the server says what is wrong. */
export function whereOf(text) {
  try {
    return Object(JSON.parse(text ?? "{}"));
  } catch {
    return {};
  }
}

/** A field for each name of metadata. `onChoose(text)` gets what is asked, as an address has it, or null for nothing. */
function metadataFields(onChoose) {
  const grid = el("div", { class: "options-grid" });
  const note = el("p", { class: "muted" });
  const element = el("div", { role: "group", "aria-label": "Metadata of documents", hidden: true }, grid, note);
  const boxes = new Map();
  let where = {};

  function add(name, values) {
    const ask = (value) => {
      const { [name]: _, ...others } = where;
      where = value === null ? others : { ...others, [name]: JSON.parse(value) };
      onChoose(Object.keys(where).length ? JSON.stringify(where) : null);
    };
    const proposed = values.map(([value, documents]) => ({ id: JSON.stringify(value), name: String(value), documents }));
    const look = async (text) => proposed.filter((each) => each.name.toLowerCase().includes(text.toLowerCase())).slice(0, PROPOSED);
    const box = choiceBox({ label: name, placeholder: "Any", look, nameOf: async (value) => [JSON.parse(value)].flat().join(" or "), onChoose: ask });
    boxes.set(name, box);
    grid.append(box.element);
  }

  async function load() {
    const { names } = await get(`api/metadata?limit=${MOST_VALUES}`);
    boxes.clear();
    fill(grid);
    for (const { name, values } of names.slice(0, MOST_NAMES)) add(name, values);
    const cut = names.slice(0, MOST_NAMES).filter(({ values, distinct }) => distinct > values.length).map(({ name }) => name);
    const left = names.length > MOST_NAMES && `${counted(names.length - MOST_NAMES, "more name")} not shown.`;
    note.textContent = [cut.length && `Of ${cut.join(", ")} the ${count(MOST_VALUES)} most frequent values.`, left].filter(Boolean).join(" ");
    set(JSON.stringify(where));
  }

  function set(text) {
    where = whereOf(text);
    for (const name of Object.keys(where)) if (!boxes.has(name)) add(name, []);
    for (const [name, box] of boxes) box.set(name in where ? JSON.stringify(where[name]) : null);
    element.hidden = !boxes.size;
  }

  return { element, load, set };
}

async function communities(text) {
  const { nodes } = await get(text ? `api/graph/find?${new URLSearchParams({ text, limit: 100 })}` : `api/communities?limit=${PROPOSED}`);
  return nodes.filter(({ kind }) => kind === "Community").map(({ id, name }) => ({ id, name: named(name) }));
}

async function documents(text) {
  const { documents: found } = await get(`api/document-page?${new URLSearchParams({ text, limit: PROPOSED })}`);
  return found.map(({ id, title }) => ({ id, name: named(title) }));
}

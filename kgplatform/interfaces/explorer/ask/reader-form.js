// Which reader answers, and with which of its options: built from what the server says that each reader takes.

import { about, aboutChanges, get, keepTo, ticked } from "../shared/api.js";
import { announce, button, el, fill, freshId, icon } from "../shared/dom.js";
import { counted, duration, named, readable } from "../shared/format.js";
import { routeTo } from "../shared/router.js";

/** The choice that answers nothing: passages and facts alone. */
export const SEARCH_ONLY = "search";

export class ReaderForm {
  /** `withSearch`: searching alone is one of the choices. `label`: of the choice of a reader. `extra`: one more option. */
  constructor({ label = "Reader", withSearch = true, reader = about().readers[0].name, extra = null } = {}) {
    this.onChange = () => {};
    this.extra = extra;
    this.fields = new Map();
    const id = freshId("reader");
    this.select = el("select", { id, on: { change: () => (this.#drawOptions(), this.onChange()) } },
      about().readers.map(({ name, title }) => el("option", { value: name }, title)),
      withSearch && el("option", { value: SEARCH_ONLY }, "Search only, no answer"));
    this.routeField = el("span", { class: "field" });
    this.what = el("p", { class: "muted about-reader" });
    this.options = el("details", { class: "options" });
    this.element = el("div", { class: "reader-form" },
      el("div", { class: "field-row" }, el("span", { class: "field" }, el("label", { for: id }, label), this.select), this.routeField),
      this.what, this.options);
    this.choose(reader);
  }

  /** Choose a reader, or leave it as it is where there is none of this name. */
  choose(name, route = null) {
    if ([...this.select.options].some((each) => each.value === name)) this.select.value = name;
    this.#drawOptions();
    if (route && this.route) this.route.value = route;
  }

  get reader() {
    return this.select.value;
  }

  get searchesOnly() {
    return this.reader === SEARCH_ONLY;
  }

  get routeChosen() {
    return this.route?.value ?? null;
  }

  /** What was changed from the default, by name. */
  get changed() {
    const given = {};
    for (const [name, { read, initial }] of this.fields) {
      const value = read();
      if (value !== null && JSON.stringify(value) !== JSON.stringify(initial)) given[name] = value;
    }
    if (this.route && !this.searchesOnly) given.route = this.route.value;
    return given;
  }

  #drawOptions() {
    const chosen = about().readers.find(({ name }) => name === this.reader);
    const options = chosen?.options ?? [];
    this.fields = new Map();
    this.route = null;
    fill(this.routeField);
    fill(this.what, this.searchesOnly ? "The passages and facts nearest to the question, without a language model." : this.#told(chosen));
    if (this.searchesOnly || options.some(({ name }) => name === "route")) {
      const id = freshId("route");
      this.route = el("select", { id, on: { change: () => this.onChange() } }, about().routes.map((name) => el("option", { value: name }, name)));
      fill(this.routeField, el("label", { for: id }, "Search by"), this.route);
    }
    const others = options.filter(({ name }) => name !== "route");
    this.options.hidden = this.searchesOnly || !(others.length || this.extra);
    const grid = el("div", { class: "options-grid" }, others.map((option) => this.#field(option)));
    fill(this.options, el("summary", {}, icon("down"), "Options"), grid, this.extra);
  }

  /** What a reader does and takes, and what it still lacks. */
  #told({ about: does, takes, needs_model: needsModel, needs }) {
    const { model, documents, has_tree: hasTree, has_gists: hasGists, seconds_per_call: pace } = about();
    const lacks = [["tree", hasTree, "The tree is not built yet: see"], ["gists", hasGists, "No document has gists yet: see"]].filter(([need, there]) => documents && needs.includes(need) && !there);
    return [does, model && takes ? ` Takes ${takes}.${pace ? ` So far a call took about ${duration(pace)}.` : ""}` : "", needsModel && !model ? " Without a language model it shows only the evidence." : "",
      lacks.map(([, , sentence]) => [` ${sentence} `, el("a", { href: routeTo("documents") }, "Documents")])];
  }

  #field(option) {
    const id = freshId("option");
    const { input, read } = inputFor(option, id);
    this.fields.set(option.name, { read, initial: option.default ?? null });
    const field = el("span", { class: input.type === "checkbox" ? "field check" : "field" }, el("label", { for: id }, WORDS[option.name] ?? readable(option.name)), input);
    if (!option.help) return field;
    input.setAttribute("aria-describedby", `${id}-help`);
    const { least, most } = option;
    const bounds = least === null ? "" : most === null ? ` (from ${least})` : ` (${least} to ${most})`;
    return el("div", {}, field, el("p", { class: "muted help", id: `${id}-help` }, option.help + bounds));
  }
}

/** What people call options and their values that have other names in programs. */
const WORDS = { top_k: "passages at most", reject: "decline to answer", open: "answer from its own knowledge" };

/** The input of one option, and how its value is read: null where it is left empty. */
function inputFor({ type, default: initial, choices, least, most, example }, id) {
  if (/bool/.test(type)) {
    const input = el("input", { id, type: "checkbox", checked: initial === true });
    return { input, read: () => input.checked };
  }
  if (choices?.length && !isList(type)) {
    const input = el("select", { id }, choices.map((each) => el("option", { value: each, selected: each === initial }, WORDS[each] ?? each)));
    return { input, read: () => input.value };
  }
  if (/int|float|number/.test(type)) {
    const input = el("input", { id, type: "number", step: /float|number/.test(type) ? "any" : "1", min: least, max: most, value: initial ?? "", placeholder: example || "none" });
    return { input, read: () => (input.value.trim() === "" ? null : Number(input.value)) };
  }
  const text = Array.isArray(initial) ? initial.join(", ") : (initial ?? "");
  const input = el("input", { id, type: "text", value: text, placeholder: isList(type) ? (choices?.join(", ") || example || "a, b, …") : (example ?? "") });
  if (isList(type)) return { input, read: () => input.value.split(",").map((each) => each.trim()).filter(Boolean) };
  return { input, read: () => (input.value.trim() === "" ? null : input.value.trim()) };
}

const isList = (type) => /tuple|list|array/.test(type);

// "Only documents with …": names and values of their metadata, and documents by themselves, to which a question can be kept.

export class OnlyDocuments {
  /** The names are asked for when it is opened first, and again where the graph has changed since. */
  constructor() {
    this.known = null; // the names with their values
    this.isOld = true;
    this.rows = el("div", { class: "only-rows", on: { change: () => this.#tell() } });
    this.note = el("p", { class: "muted" });
    this.more = button("plus", "Another", () => this.#add().focus(), { class: "quiet small", hidden: true });
    const id = freshId("condition");
    this.condition = el("input", { id, type: "text", placeholder: "year >= 1869 and not draft", on: { change: () => this.#tell() } });
    this.written = el("span", { class: "field" }, el("label", { for: id }, "And that fit"), this.condition);
    this.chosen = el("span", {}, "…");
    this.ticked = el("div", { class: "chips" });
    this.element = el("details", { class: "options only-documents", on: { toggle: () => this.element.open && this.#load() } },
      el("summary", {}, icon("down"), el("span", {}, "Only documents with ", this.chosen)), this.note, this.rows, this.more, this.written);
    aboutChanges.addEventListener("change", () => (this.isOld = true));
  }

  /** What was ticked, chosen and written: all must hold. */
  get where() {
    const [chosen, written, ids] = [this.#chosen, this.condition.value.trim(), ticked().map(({ id }) => id)];
    return [...(ids.length ? [{ document: ids }] : []), ...(Object.keys(chosen).length ? [chosen] : []), ...(written ? [written] : [])];
  }

  /** The documents that were ticked, which a press takes back. */
  drawTicked() {
    const documents = ticked();
    this.ticked.hidden = !documents.length;
    const [names, first] = [documents.map(({ title }) => named(title)), documents.slice(0, 1).map(({ title }) => `“${named(title)}”`)];
    const words = `Only ${documents.length === 1 ? first : counted(documents.length, "document")}`;
    const remove = () => (keepTo([]), this.drawTicked(), announce("All documents may be used"), this.element.querySelector("summary").focus());
    fill(this.ticked, button("close", words, remove, { class: "chip", "aria-label": `${words}: remove this limit`, title: names.slice(0, 20).join("\n") }));
  }

  /** Of each name that was chosen its values, any of which will do. */
  get #chosen() {
    const where = {};
    for (const row of this.rows.children) {
      const [name, value] = [row.querySelector(".only-name").value, row.querySelector(".only-value").selectedOptions[0]];
      if (value?.value) (where[name] ??= []).push(JSON.parse(value.value));
    }
    return where;
  }

  /** The reader that is chosen: one that reads the whole graph needs one of these documents alone. */
  suit(reader) {
    const { title, whole_graph: whole } = about().readers.find(({ name }) => name === reader) ?? {};
    this.note.textContent = whole ? `“${title}” reads a whole graph: one of these documents alone, which takes a while to make the first time.` : "";
  }

  /** The choice, also where the rows are folded away. */
  #tell() {
    const chosen = Object.entries(this.#chosen).map(([name, values]) => `${name} ${values.join(" or ")}`);
    this.chosen.textContent = [...chosen, this.condition.value.trim()].filter(Boolean).join(", ") || "…";
  }

  async #load() {
    if (!this.isOld) return;
    this.isOld = false;
    try {
      ({ names: this.known } = await get("api/metadata"));
      this.more.hidden = !this.known.length;
      if (!this.known.length) this.note.textContent = "The documents have no metadata, such as an author or a year.";
      else if (!this.rows.children.length) this.#add();
    } catch (fault) {
      this.isOld = true;
      this.note.textContent = `Not loaded: ${fault.message}`;
    }
  }

  /** One more name with its values; gives the choice of the name. */
  #add() {
    const id = freshId("only");
    const value = el("select", { id: `${id}-value`, class: "only-value", "aria-label": "Value" });
    const name = el("select", { id, class: "only-name", "aria-label": "Metadata", on: { change: () => this.#offer(name, value) } },
      this.known.map((each) => el("option", { value: each.name }, each.name)));
    const row = el("div", { class: "field-row" }, name, value,
      button("close", null, () => (row.remove(), this.#tell()), { class: "quiet small", "aria-label": "Remove" }));
    this.#offer(name, value);
    this.rows.append(row);
    return name;
  }

  #offer(name, value) {
    const { values, distinct } = this.known.find((each) => each.name === name.value) ?? { values: [], distinct: 0 };
    fill(value, el("option", { value: "" }, "any"), values.map(([each, documents]) => el("option", { value: JSON.stringify(each) }, `${each} (${documents})`)),
      distinct > values.length && el("option", { disabled: true }, `… and ${distinct - values.length} more`));
  }
}
